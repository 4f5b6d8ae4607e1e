#include "joulegrid/search/placement_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

using Signed = PlacementBound::Signed;

constexpr std::size_t most_tiles = std::size_t{1} << 20;    // of all call groups and layers together
constexpr std::int64_t most_count = std::int64_t{1} << 60;  // of cells and reads: two of them multiply within 128 bits

[[noreturn]] void throw_too_large() {
  throw Error(ErrorCode::overflow, "the epoch is too large for a proof: its sums might not fit 128 bits");
}

std::int64_t narrowed(Wide value) {
  if (value > static_cast<Wide>(most_count)) throw_too_large();
  return static_cast<std::int64_t>(value);
}

/// 0² + 1² + … + (n-1)²
Signed squares_below(std::int64_t n) { return Signed{n} * (n - 1) * (2 * Signed{n} - 1) / 6; }

/// The sum over the level's radii r of how many of the cells first + 1, …, first + cells lie within the first r² addresses.
std::int64_t cells_inside(const PlacementBound::Level& level, std::int64_t first, std::int64_t cells) {
  const std::int64_t end = level.first + level.count;
  const auto beyond = [&](std::int64_t address) -> Signed {  // the sum of max(0, r² - address)
    const std::int64_t from = std::max(level.first, static_cast<std::int64_t>(isqrt(static_cast<Wide>(address))) + 1);
    return from >= end ? 0 : squares_below(end) - squares_below(from) - Signed{address} * (end - from);
  };
  if (level.first * level.first >= first + cells) return cells * level.count;
  if ((end - 1) * (end - 1) <= first) return 0;
  return static_cast<std::int64_t>(beyond(first) - beyond(first + cells));
}

}  // namespace

PlacementBound::PlacementBound(const Epoch& epoch, Candidates candidates) : layers_(epoch.layers()) {
  // Overlays: sb, sc, one input per group, activations, weights, then sa, tmp and output.
  const std::size_t groups = epoch.call_groups().size();
  users_.resize(2 + groups + (layers_ - 1) + layers_ + 3);
  sizes_.resize(users_.size());
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t layer = 0; layer < layers_; ++layer) add_coordinate(epoch, group, layer, candidates);
  }
  add_rest(epoch);
  for (std::size_t overlay = 0; overlay < users_.size(); ++overlay) {
    double weights = 0;
    for (User& user : users_[overlay]) {
      Coordinate& coordinate = coordinates_[user.coordinate];
      weights += coordinate.weight;
      for (const Profile& profile : coordinate.slots[user.slot].profiles) {
        sizes_[overlay] = std::max(sizes_[overlay], profile.cells[profile.buffers - 1]);
      }
    }
    for (User& user : users_[overlay]) user.share = coordinates_[user.coordinate].weight / weights;
  }
  Wide cells = 0;
  for (const std::int64_t size : sizes_) cells = checked_add(cells, static_cast<Wide>(size));
  radii_ = narrowed(isqrt(cells - 1) + 1);
  require_room();
}

void PlacementBound::require_room() {
  // A bound is a sum of at most 2 · `parts` sums over the levels, each at most (twice the most reads of a cell) · (3 ·
  // squares): less than 2^124.
  long double reads = 0;
  std::size_t users = 0;
  for (const std::vector<User>& of_overlay : users_) {
    long double most = 0;
    for (const User& user : of_overlay) {
      long double own = 0;
      for (const Profile& profile : coordinates_[user.coordinate].slots[user.slot].profiles) {
        long double all = 0;
        for (std::size_t b = 0; b < profile.buffers; ++b) all += static_cast<long double>(profile.reads[b]);
        own = std::max(own, all);
      }
      most += own;
      ++users;
    }
    reads = std::max(reads, most);
  }
  const long double squares = static_cast<long double>(squares_below(radii_ + 1));
  const auto parts = static_cast<long double>(users_.size() + users);
  const auto room = static_cast<long double>(most_count);
  if (reads * 4 > room || squares * 4 > room || reads * squares * parts > room * room) throw_too_large();
  most_price_ = static_cast<std::int64_t>(reads) * 2;
}

void PlacementBound::add_coordinate(const Epoch& epoch, std::size_t group, std::size_t layer, Candidates candidates) {
  const CallGroup& calls = epoch.call_groups()[group];
  const std::size_t groups = epoch.call_groups().size();
  const Gemm gemm = epoch.gemm(calls.rows, layer);
  const TileSizes rows(gemm.m, candidates);
  const TileSizes columns(gemm.n, candidates);
  std::size_t listed = 0;
  for (const Coordinate& coordinate : coordinates_) listed += coordinate.tiles.size();
  if (rows.count() > (most_tiles - listed) / columns.count()) {
    throw Error(ErrorCode::bad_input,
                "the epoch has more than " + std::to_string(most_tiles) + " tiles to choose from, too many for a proof");
  }
  const std::size_t index = coordinates_.size();
  Coordinate& added = coordinates_.emplace_back();
  added.weight = static_cast<double>(gemm.m) * static_cast<double>(gemm.k) * static_cast<double>(gemm.n) *
                 static_cast<double>(calls.calls);
  const bool images = layer == 0;
  const std::array<std::size_t, 4> overlays{0, 1, images ? 2 + group : 2 + groups + layer - 1,
                                            2 + groups + layers_ - 1 + layer};
  added.slots.resize(overlays.size());
  for (std::size_t slot = 0; slot < overlays.size(); ++slot) {
    added.slots[slot].overlay = overlays[slot];
    added.slots[slot].user = users_[overlays[slot]].size();
    users_[overlays[slot]].push_back({index, slot});
  }
  std::vector<std::map<Profile, std::uint32_t>> known(overlays.size());
  const auto use = [&](std::size_t slot, std::vector<Run> buffers) {
    std::sort(buffers.begin(), buffers.end(), [](const Run& a, const Run& b) { return a.cells < b.cells; });
    Profile profile;
    for (const Run& buffer : buffers) {
      if (buffer.cells == 0) continue;
      const std::int64_t cells = narrowed(buffer.cells);
      if (profile.buffers > 0 && profile.cells[profile.buffers - 1] == cells) {
        profile.reads[profile.buffers - 1] += narrowed(buffer.reads_per_cell);
      } else {
        profile.cells[profile.buffers] = cells;
        profile.reads[profile.buffers++] = narrowed(buffer.reads_per_cell);
      }
    }
    const auto [place, fresh] = known[slot].emplace(profile, static_cast<std::uint32_t>(known[slot].size()));
    if (fresh) added.slots[slot].profiles.push_back(profile);
    added.slots[slot].profile_of.push_back(place->second);
  };
  const Wide input_cells = checked_mul(checked_mul(gemm.m, gemm.k), images ? calls.calls : 1);
  const Wide input_reads = images ? 1 : calls.calls;  // every call reads image cells of its own
  for (std::size_t i = 0; i < rows.count(); ++i) {
    for (std::size_t j = 0; j < columns.count(); ++j) {
      const Tile tile{rows[i], columns[j]};
      SaCacheReads reads = sa_cache_reads(gemm, tile);
      for (Run& run : reads.sb) run.reads_per_cell = checked_mul(run.reads_per_cell, calls.calls);
      for (Run& run : reads.sc) run.reads_per_cell = checked_mul(run.reads_per_cell, calls.calls);
      added.tiles.push_back(tile);
      use(0, {reads.sb.begin(), reads.sb.end()});
      use(1, {reads.sc.begin(), reads.sc.end()});
      use(2, {{input_cells, checked_mul(input_reads, reads.a)}});
      use(3, {{checked_mul(gemm.k, gemm.n), checked_mul(calls.calls, reads.b)}});
    }
  }
}

void PlacementBound::add_rest(const Epoch& epoch) {
  EpochTiles smallest(epoch.call_groups().size(), std::vector<Tile>(layers_));
  const EpochOverlays overlays = sa_cache_overlays(epoch, smallest);
  const std::size_t index = coordinates_.size();
  Coordinate& rest = coordinates_.emplace_back();
  rest.tiles.resize(1);
  std::size_t overlay = users_.size() - 3;
  for (const Overlay* of : {&overlays.sa, &overlays.tmp, &overlays.output}) {
    Profile profile;
    const std::vector<Run> runs = runs_of(of->buffers);
    check(runs.size() <= 1, "sa, tmp and the outputs are read evenly");
    profile.buffers = 1;
    profile.cells[0] = 1;
    if (!runs.empty()) {  // nothing goes through tmp where no sum has more than one term
      profile.cells[0] = narrowed(runs[0].cells);
      profile.reads[0] = narrowed(runs[0].reads_per_cell);
    }
    users_[overlay].push_back({index, rest.slots.size()});
    rest.slots.push_back({overlay++, 0, {profile}, {0}});
  }
}

TileChoices PlacementBound::everything() const {
  TileChoices choices;
  for (const Coordinate& coordinate : coordinates_) {
    std::vector<std::uint32_t>& all = choices.emplace_back(coordinate.tiles.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
  }
  return choices;
}

ChosenTiles PlacementBound::chosen(const EpochTiles& tiles) const {
  ChosenTiles chosen;
  for (std::size_t x = 0; x + 1 < coordinates_.size(); ++x) {
    const std::vector<Tile>& all = coordinates_[x].tiles;
    const auto place = std::find(all.begin(), all.end(), tiles[x / layers_][x % layers_]);
    check(place != all.end(), "the tiles are candidates");
    chosen.push_back(static_cast<std::uint32_t>(place - all.begin()));
  }
  chosen.push_back(0);
  return chosen;
}

EpochTiles PlacementBound::tiles_of(const ChosenTiles& chosen) const {
  EpochTiles tiles((coordinates_.size() - 1) / layers_);
  for (std::size_t x = 0; x + 1 < coordinates_.size(); ++x) tiles[x / layers_].push_back(coordinates_[x].tiles[chosen[x]]);
  return tiles;
}

const PlacementBound::Profile& PlacementBound::profile(const User& user, std::uint32_t tile) const {
  const Slot& slot = coordinates_[user.coordinate].slots[user.slot];
  return slot.profiles[slot.profile_of[tile]];
}

std::vector<PlacementBound::OverlayRun> PlacementBound::packed_runs(const ChosenTiles& chosen) const {
  std::vector<OverlayRun> runs;
  for (std::size_t overlay = 0; overlay < users_.size(); ++overlay) {
    std::vector<StepRun> buffers;
    std::int64_t reads = 0;
    for (const User& user : users_[overlay]) {
      const Profile& used = profile(user, chosen[user.coordinate]);
      for (std::size_t b = 0; b < used.buffers; ++b) {
        buffers.push_back({used.cells[b], used.reads[b]});
        reads += used.reads[b];
      }
    }
    std::sort(buffers.begin(), buffers.end(), [](const StepRun& a, const StepRun& b) { return a.end < b.end; });
    std::int64_t done = 0;
    for (const StepRun& buffer : buffers) {
      if (buffer.end > done && reads > 0) runs.push_back({buffer.end - done, reads, overlay});
      done = buffer.end;
      reads -= buffer.reads;
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const OverlayRun& a, const OverlayRun& b) { return a.reads > b.reads; });
  return runs;
}

std::vector<PlacementBound::Level> PlacementBound::levels_of(const std::vector<OverlayRun>& runs) const {
  std::vector<std::int64_t> starts{0, radii_};
  std::int64_t cells = 0;
  for (const OverlayRun& run : runs) {
    cells += run.cells;
    starts.push_back(static_cast<std::int64_t>(isqrt(static_cast<Wide>(cells - 1))) + 1);
  }
  std::sort(starts.begin(), starts.end());
  std::vector<Level> levels;
  for (std::size_t s = 0; s + 1 < starts.size() && starts[s] < radii_; ++s) {
    for (std::int64_t first = starts[s]; first < starts[s + 1];) {
      const std::int64_t end = std::min(starts[s + 1], first + 1 + first / 20);
      levels.push_back({first, end - first, static_cast<std::int64_t>(squares_below(end) - squares_below(first))});
      first = end;
    }
  }
  return levels;
}

PlacementBound::Multipliers PlacementBound::multipliers_of(const ChosenTiles& chosen) const {
  const std::vector<OverlayRun> runs = packed_runs(chosen);
  Multipliers result;
  result.levels = levels_of(runs);
  const std::size_t levels = result.levels.size();
  result.price.resize(levels);
  std::vector<std::vector<std::int64_t>> inside(users_.size(), std::vector<std::int64_t>(levels));
  std::int64_t before = 0;
  for (const OverlayRun& run : runs) {
    for (std::size_t m = 0; m < levels; ++m) {
      const Level& level = result.levels[m];
      inside[run.overlay][m] += cells_inside(level, before, run.cells);
      const std::int64_t address = level.first * level.first;
      if (before <= address && address < before + run.cells) result.price[m] = run.reads;
    }
    before += run.cells;
  }
  for (std::size_t overlay = 0; overlay < users_.size(); ++overlay) {
    const std::vector<User>& users = users_[overlay];
    std::vector<std::int64_t>& shares = result.shares.emplace_back(users.size() * levels);
    std::vector<double> next(users.size());  // what a user reads of the next cell, and of the last one
    std::vector<double> last(users.size());
    for (std::size_t m = 0; m < levels; ++m) {
      double all_next = 0;
      double all_last = 0;
      for (std::size_t u = 0; u < users.size(); ++u) {
        const Profile& used = profile(users[u], chosen[users[u].coordinate]);
        next[u] = last[u] = 0;
        for (std::size_t b = 0; b < used.buffers; ++b) {
          const std::int64_t end = used.cells[b] * result.levels[m].count;
          if (end > inside[overlay][m]) next[u] += static_cast<double>(used.reads[b]);
          if (end >= inside[overlay][m]) last[u] += static_cast<double>(used.reads[b]);
        }
        all_next += next[u];
        all_last += last[u];
      }
      const auto price = static_cast<double>(result.price[m]);
      for (std::size_t u = 0; u < users.size(); ++u) {
        double share = last[u] + (price - all_last) * users[u].share;
        if (price <= all_next) {
          share = all_next > 0 ? price * (next[u] / all_next) : 0;
        } else if (price <= all_last) {
          share = next[u] + (last[u] - next[u]) * ((price - all_next) / (all_last - all_next));
        }
        shares[u * levels + m] = static_cast<std::int64_t>(share);
      }
    }
  }
  return result;
}

PlacementBound::Multipliers PlacementBound::mean_of(const Multipliers& a, const Multipliers& b) {
  Multipliers mean = a;
  std::size_t there = 0;
  for (std::size_t m = 0; m < a.levels.size(); ++m) {
    const std::int64_t middle = a.levels[m].first + a.levels[m].count / 2;
    while (b.levels[there].first + b.levels[there].count <= middle) ++there;
    mean.price[m] = (a.price[m] + b.price[there]) / 2;
    for (std::size_t overlay = 0; overlay < a.shares.size(); ++overlay) {
      const std::size_t users = a.shares[overlay].size() / a.levels.size();
      for (std::size_t u = 0; u < users; ++u) {
        std::int64_t& share = mean.shares[overlay][u * a.levels.size() + m];
        share = (share + b.shares[overlay][u * b.levels.size() + there]) / 2;
      }
    }
  }
  return mean;
}

/// How often each cell of the overlay is read at most (or at least), whichever of the choices are made.
std::vector<PlacementBound::StepRun> PlacementBound::extreme_reads(std::size_t overlay, const TileChoices& choices,
                                                                   bool most) const {
  std::vector<StepRun> drops;  // after which cell the sum falls, and by how much
  std::int64_t total = 0;
  for (const User& user : users_[overlay]) {
    const Slot& slot = coordinates_[user.coordinate].slots[user.slot];
    std::vector<char> used(slot.profiles.size());
    for (const std::uint32_t tile : choices[user.coordinate]) used[slot.profile_of[tile]] = 1;
    std::vector<StepRun> corners;  // most: cells up to the end may be read so often; least: cells after it are, at most
    for (std::size_t p = 0; p < used.size(); ++p) {
      if (used[p] == 0) continue;
      const Profile& profile = slot.profiles[p];
      std::int64_t reads = 0;
      for (std::size_t b = profile.buffers; b-- > 0;) {
        if (!most) corners.push_back({profile.cells[b], reads});
        reads += profile.reads[b];
        if (most) corners.push_back({profile.cells[b], reads});
      }
      if (!most) corners.push_back({0, reads});
    }
    std::sort(corners.begin(), corners.end(),
              [&](const StepRun& a, const StepRun& b) { return a.end != b.end ? a.end < b.end : a.reads < b.reads; });
    if (most) {
      std::int64_t reads = 0;
      for (std::size_t c = corners.size(); c-- > 0;) {
        if (corners[c].reads > reads) drops.push_back({corners[c].end, corners[c].reads - reads});
        reads = std::max(reads, corners[c].reads);
      }
      total += reads;
    } else {
      std::int64_t reads = corners[0].reads;  // of the first cell
      total += reads;
      for (const StepRun& corner : corners) {
        if (corner.reads < reads) drops.push_back({corner.end, reads - corner.reads});
        reads = std::min(reads, corner.reads);
      }
    }
  }
  std::sort(drops.begin(), drops.end(), [](const StepRun& a, const StepRun& b) { return a.end < b.end; });
  std::vector<StepRun> runs;
  std::int64_t done = 0;
  for (const StepRun& drop : drops) {
    if (drop.end > done && total > 0) runs.push_back({drop.end, total});
    done = drop.end;
    total -= drop.reads;
  }
  return runs;
}

PlacementBound::Boxes PlacementBound::boxes_of(const TileChoices& choices, const std::vector<Level>& levels) const {
  const std::size_t overlays = users_.size();
  std::vector<std::vector<StepRun>> most;
  std::vector<std::vector<StepRun>> least;
  for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
    most.push_back(extreme_reads(overlay, choices, true));
    least.push_back(extreme_reads(overlay, choices, false));
  }
  /// Cells of other overlays that are read at least (or more than) so often.
  const auto others = [&](const std::vector<std::vector<StepRun>>& reads, std::size_t except, std::int64_t limit) {
    std::int64_t cells = 0;
    for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
      if (overlay == except) continue;
      const auto end = std::partition_point(reads[overlay].begin(), reads[overlay].end(),
                                            [&](const StepRun& run) { return run.reads >= limit; });
      if (end != reads[overlay].begin()) cells += (end - 1)->end;
    }
    return cells;
  };
  // One more overlay of cells that nobody reads.
  Boxes boxes;
  boxes.least.assign(overlays + 1, std::vector<std::int64_t>(levels.size()));
  boxes.most = boxes.least;
  for (std::size_t m = 0; m < levels.size(); ++m) boxes.most[overlays][m] = levels[m].cells;
  const auto fill = [&](std::vector<std::int64_t>& box, std::size_t overlay, const std::vector<StepRun>& runs,
                        const std::vector<std::vector<StepRun>>& rivals, std::int64_t tie) {
    std::int64_t done = 0;
    for (const StepRun& run : runs) {
      const std::int64_t before = others(rivals, overlay, run.reads + tie);
      for (std::size_t m = 0; m < levels.size(); ++m) box[m] += cells_inside(levels[m], before + done, run.end - done);
      done = run.end;
    }
  };
  for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
    fill(boxes.least[overlay], overlay, least[overlay], most, 0);
    fill(boxes.most[overlay], overlay, most[overlay], least, 1);
  }
  narrow(levels, boxes);
  return boxes;
}

/// Applies what holds between the boxes: all radii are filled, and cells within a radius lie within the larger ones.
void PlacementBound::narrow(const std::vector<Level>& levels, Boxes& boxes) {
  constexpr int most_rounds = 8;
  bool changed = true;
  for (int round = 0; round < most_rounds && changed; ++round) {
    changed = false;
    const auto raise = [&](std::int64_t& value, Signed to) {
      if (to <= value) return;
      value = static_cast<std::int64_t>(to);
      changed = true;
    };
    const auto lower = [&](std::int64_t& value, Signed to) {
      if (to >= value) return;
      value = static_cast<std::int64_t>(to);
      changed = true;
    };
    for (std::size_t overlay = 0; overlay < boxes.least.size(); ++overlay) {
      std::vector<std::int64_t>& least = boxes.least[overlay];
      std::vector<std::int64_t>& most = boxes.most[overlay];
      for (std::size_t m = 0; m + 1 < levels.size(); ++m) {
        raise(least[m + 1], (Signed{least[m]} * levels[m + 1].count + levels[m].count - 1) / levels[m].count);
      }
      for (std::size_t m = levels.size(); m-- > 1;) {
        lower(most[m - 1], Signed{most[m]} * levels[m - 1].count / levels[m].count);
      }
    }
    for (std::size_t m = 0; m < levels.size(); ++m) {
      Signed all_least = 0;
      Signed all_most = 0;
      for (std::size_t overlay = 0; overlay < boxes.least.size(); ++overlay) {
        all_least += boxes.least[overlay][m];
        all_most += boxes.most[overlay][m];
      }
      for (std::size_t overlay = 0; overlay < boxes.least.size(); ++overlay) {
        std::int64_t& least = boxes.least[overlay][m];
        std::int64_t& most = boxes.most[overlay][m];
        const Signed others_least = all_least - least;
        const Signed others_most = all_most - most;
        raise(least, levels[m].cells - others_most);
        lower(most, levels[m].cells - others_least);
        all_least = others_least + least;
        all_most = others_most + most;
        if (least > most) boxes.empty = true;
      }
    }
    if (boxes.empty) return;
  }
}

/// The N of the box for which share · N + (what the profile reads beyond N) is smallest.
std::int64_t PlacementBound::cells_within(const Profile& profile, std::int64_t count, std::int64_t share, std::int64_t least,
                                          std::int64_t most) {
  std::int64_t reads = 0;  // of the next cell
  std::size_t b = profile.buffers;
  while (b > 0 && profile.cells[b - 1] * count > least) reads += profile.reads[--b];
  std::int64_t cells = least;
  for (; b < profile.buffers && reads > share && cells < most; ++b) {
    cells = std::min(most, profile.cells[b] * count);
    reads -= profile.reads[b];
  }
  return cells;
}

PlacementBound::Signed PlacementBound::cost(const Profile& profile, const Multipliers& multipliers, const Boxes& boxes,
                                            const Slot& slot) const {
  const std::size_t levels = multipliers.levels.size();
  const std::int64_t* share = multipliers.shares[slot.overlay].data() + slot.user * levels;
  const std::int64_t* least = boxes.least[slot.overlay].data();
  const std::int64_t* most = boxes.most[slot.overlay].data();
  Signed sum = 0;
  for (std::size_t m = 0; m < levels; ++m) {
    const std::int64_t count = multipliers.levels[m].count;
    const std::int64_t cells = cells_within(profile, count, share[m], least[m], most[m]);
    sum += Signed{share[m]} * cells;
    for (std::size_t b = 0; b < profile.buffers; ++b) {
      const std::int64_t beyond = profile.cells[b] * count - cells;
      if (beyond > 0) sum += Signed{profile.reads[b]} * beyond;
    }
  }
  return sum;
}

PlacementBound::Value PlacementBound::evaluate(const TileChoices& choices, const Multipliers& multipliers,
                                               const Boxes& boxes) const {
  const std::size_t levels = multipliers.levels.size();
  Value value;
  for (std::size_t m = 0; m < levels; ++m) {
    const std::int64_t unread = boxes.least[users_.size()][m];
    value.bound -= Signed{multipliers.price[m]} * (multipliers.levels[m].cells - unread);
    for (std::size_t overlay = 0; overlay < users_.size(); ++overlay) {
      std::int64_t left = multipliers.price[m];
      for (std::size_t u = 0; u < users_[overlay].size(); ++u) left -= multipliers.shares[overlay][u * levels + m];
      value.bound += Signed{left} * (left >= 0 ? boxes.least[overlay][m] : boxes.most[overlay][m]);
    }
  }
  for (std::size_t x = 0; x < coordinates_.size(); ++x) {
    std::vector<Signed>& costs = value.costs.emplace_back(choices[x].size());
    for (const Slot& slot : coordinates_[x].slots) {
      std::vector<Signed> of_profile(slot.profiles.size(), -1);
      for (std::size_t c = 0; c < costs.size(); ++c) {
        const std::uint32_t p = slot.profile_of[choices[x][c]];
        if (of_profile[p] < 0) of_profile[p] = cost(slot.profiles[p], multipliers, boxes, slot);
        costs[c] += of_profile[p];
      }
    }
    const auto smallest = std::min_element(costs.begin(), costs.end());
    value.smallest.push_back(static_cast<std::size_t>(smallest - costs.begin()));
    value.bound += *smallest;
  }
  return value;
}

PlacementBound::Multipliers PlacementBound::step(const TileChoices& choices, const Multipliers& multipliers, const Boxes& boxes,
                                                 const Value& value, double distance) const {
  // Where the users of an overlay want different numbers of cells within a level, those that want more shall pay more; where
  // all together want more than there are, cells shall cost more. Every multiplier is scaled by its own size.
  const std::size_t levels = multipliers.levels.size();
  const std::size_t overlays = users_.size();
  std::vector<std::vector<double>> wanted(overlays);
  std::vector<std::vector<double>> mean(overlays, std::vector<double>(levels));
  std::vector<double> excess(levels);
  double norm = 0;
  for (std::size_t m = 0; m < levels; ++m) {
    excess[m] = static_cast<double>(boxes.least[overlays][m]) - static_cast<double>(multipliers.levels[m].cells);
  }
  const auto share_scale = [&](std::size_t overlay, std::size_t m) {
    return static_cast<double>(multipliers.price[m]) / std::max(1.0, mean[overlay][m]);
  };
  const auto price_scale = [&](std::size_t m) {
    return static_cast<double>(multipliers.price[m]) / std::max(1.0, static_cast<double>(multipliers.levels[m].cells));
  };
  for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
    const std::vector<User>& users = users_[overlay];
    wanted[overlay].resize(users.size() * levels);
    for (std::size_t u = 0; u < users.size(); ++u) {
      const std::size_t x = users[u].coordinate;
      const Profile& used = profile(users[u], choices[x][value.smallest[x]]);
      for (std::size_t m = 0; m < levels; ++m) {
        const auto cells =
            static_cast<double>(cells_within(used, multipliers.levels[m].count, multipliers.shares[overlay][u * levels + m],
                                             boxes.least[overlay][m], boxes.most[overlay][m]));
        wanted[overlay][u * levels + m] = cells;
        mean[overlay][m] += users[u].share * cells;
      }
    }
    for (std::size_t m = 0; m < levels; ++m) {
      excess[m] += mean[overlay][m];
      for (std::size_t u = 0; u < users.size(); ++u) {
        const double more = wanted[overlay][u * levels + m] - mean[overlay][m];
        norm += more * more * share_scale(overlay, m) * users[u].share;
      }
    }
  }
  for (std::size_t m = 0; m < levels; ++m) norm += excess[m] * excess[m] * price_scale(m);
  if (norm <= 0) return multipliers;

  const double length = distance / norm;
  Multipliers next = multipliers;
  for (std::size_t m = 0; m < levels; ++m) {
    const auto before = static_cast<double>(multipliers.price[m]);
    const double price = std::clamp(before + length * price_scale(m) * excess[m], before / 2, before * 2);
    next.price[m] = std::min(most_price_, static_cast<std::int64_t>(price));
    for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
      const std::vector<User>& users = users_[overlay];
      std::vector<double> shares(users.size());
      double sum = 0;
      for (std::size_t u = 0; u < users.size(); ++u) {
        const double more = wanted[overlay][u * levels + m] - mean[overlay][m];
        const double change = length * share_scale(overlay, m) * more + (price - before);
        shares[u] = std::max(0.0, static_cast<double>(multipliers.shares[overlay][u * levels + m]) + change * users[u].share);
        sum += shares[u];
      }
      for (std::size_t u = 0; u < users.size(); ++u) {
        const double share = sum > 0 ? shares[u] * (price / sum) : price * users[u].share;
        next.shares[overlay][u * levels + m] = static_cast<std::int64_t>(share);
      }
    }
  }
  return next;
}

}  // namespace joulegrid
