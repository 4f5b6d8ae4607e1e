#include "joulegrid/search/tile_pricer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

/// The most concentrated way to read `total_cells` cells' worth of data `reads` times each when no cell is read more than
/// `visits · reads` times: as two buffers that start at the same cell.
std::pair<Run, Run> concentrated(Wide total_cells, Wide visits, Wide reads) {
  const Wide full = total_cells / visits;
  const Wide left = total_cells % visits;
  return {{full, checked_mul(visits - left, reads)}, {full + (left != 0 ? 1 : 0), checked_mul(left, reads)}};
}

/// The fictitious reads of docs/search.md, "The bound of a rectangle".
SaCacheReads least_reads(const Gemm& gemm, const TileRange& range) {
  SaCacheReads reads;
  const Wide most_column_tiles = ceil_div(gemm.n, range.first.j);
  const Wide most_tiles = checked_mul(ceil_div(gemm.m, range.first.i), most_column_tiles);
  std::tie(reads.sb[0], reads.sb[1]) = concentrated(gemm.n, most_column_tiles, checked_mul(gemm.m, gemm.k));
  std::tie(reads.sc[0], reads.sc[1]) = concentrated(checked_mul(gemm.m, gemm.n), most_tiles, gemm.k);
  reads.a = ceil_div(gemm.n, range.last.j);
  reads.b = ceil_div(gemm.m, range.last.i);
  return reads;
}

/// Insertion: the runs are few, and four sequences that fall already.
void sort_falling(Run* first, Run* last) {
  for (Run* next = first + 1; next < last; ++next) {
    const Run run = *next;
    Run* place = next;
    for (; place > first && (place - 1)->reads_per_cell < run.reads_per_cell; --place) *place = *(place - 1);
    *place = run;
  }
}

}  // namespace

TilePricer::Profile TilePricer::profile_of(const std::vector<Buffer>& buffers) {
  Profile profile;
  Wide last_cell = 0;
  for (const Run& run : runs_of(buffers)) profile.push_back({last_cell += run.cells, run.reads_per_cell});
  return profile;
}

TilePricer::TilePricer(const Epoch& epoch, const EpochTiles& tiles, TileIndex free)
    : gemm_(epoch.gemm(epoch.call_groups().at(free.group).rows, free.layer)), calls_(epoch.call_groups()[free.group].calls) {
  const EpochOverlays rest = sa_cache_overlays(epoch, tiles, &free);
  const Overlay& input = free.layer == 0 ? rest.inputs[free.group] : rest.activations[free.layer - 1];
  const Overlay& weight = rest.weights[free.layer];
  const std::array<const Overlay*, 4> shared{&rest.sb, &rest.sc, &input, &weight};
  std::transform(shared.begin(), shared.end(), shared_.begin(), [](const Overlay* o) { return profile_of(o->buffers); });
  const auto fix = [&](const Overlay& overlay) {
    if (std::find(shared.begin(), shared.end(), &overlay) != shared.end()) return;
    const std::vector<Run> runs = runs_of(overlay.buffers);
    fixed_.insert(fixed_.end(), runs.begin(), runs.end());
  };
  for (const Overlay* overlay : {&rest.sa, &rest.tmp, &rest.output}) fix(*overlay);
  for (const auto* part : {&rest.inputs, &rest.activations, &rest.weights}) std::for_each(part->begin(), part->end(), fix);
  std::stable_sort(fixed_.begin(), fixed_.end(),
                   [](const Run& a, const Run& b) { return a.reads_per_cell > b.reads_per_cell; });

  // Every call reads image cells of its own; all other arrays are used again by the next call.
  const bool images = free.layer == 0;
  input_ = {checked_mul(checked_mul(gemm_.m, gemm_.k), images ? calls_ : 1), images ? 1 : calls_};
  weight_ = {checked_mul(gemm_.k, gemm_.n), calls_};
  std::size_t most_runs = 2 + 4 + 1 + 1;
  for (const Profile& profile : shared_) most_runs += profile.size();
  moving_.resize(most_runs);
}

Run* TilePricer::stack(const Profile& rest, Run* buffers, Run* buffers_end, Run* out) const {
  std::sort(buffers, buffers_end, [](const Run& a, const Run& b) { return a.cells < b.cells; });
  Wide reads = 0;  // of the buffers that still cover the current cell
  for (const Run* buffer = buffers; buffer < buffers_end; ++buffer) reads = checked_add(reads, buffer->reads_per_cell);
  auto other = rest.begin();
  Wide done = 0;
  while (buffers < buffers_end || other < rest.end()) {
    const bool mine = buffers < buffers_end && (other == rest.end() || buffers->cells <= other->last_cell);
    const Wide end = mine ? buffers->cells : other->last_cell;
    if (end > done) *out++ = {end - done, checked_add(reads, other < rest.end() ? other->reads_per_cell : 0)};
    done = end;
    if (mine) {
      reads -= buffers->reads_per_cell;
      ++buffers;
    } else {
      ++other;
    }
  }
  return out;
}

Wide TilePricer::price(SaCacheReads reads) {
  for (Run& run : reads.sb) run.reads_per_cell = checked_mul(run.reads_per_cell, calls_);
  for (Run& run : reads.sc) run.reads_per_cell = checked_mul(run.reads_per_cell, calls_);
  Run input{input_.cells, checked_mul(reads.a, input_.reads_per_cell)};
  Run weight{weight_.cells, checked_mul(reads.b, weight_.reads_per_cell)};
  Run* const moving = moving_.data();
  Run* end = stack(shared_[0], reads.sb.begin(), reads.sb.end(), moving);
  end = stack(shared_[1], reads.sc.begin(), reads.sc.end(), end);
  end = stack(shared_[2], &input, &input + 1, end);
  end = stack(shared_[3], &weight, &weight + 1, end);
  sort_falling(moving, end);

  Wide steps = 0;
  Wide cells = 0;
  Wide before = 0;
  const auto place = [&](const Run& run) {
    cells = checked_add(cells, run.cells);
    const Wide after = distance_sum(cells);
    steps = checked_add(steps, checked_mul(run.reads_per_cell, after - before));
    before = after;
  };
  const Run* next = moving;
  for (const Run& run : fixed_) {
    while (next < end && next->reads_per_cell > run.reads_per_cell) place(*next++);
    place(run);
  }
  while (next < end) place(*next++);
  return steps;
}

Wide TilePricer::steps(Tile tile) { return price(sa_cache_reads(gemm_, tile)); }

Wide TilePricer::lower_bound(const TileRange& range) { return price(least_reads(gemm_, range)); }

}  // namespace joulegrid
