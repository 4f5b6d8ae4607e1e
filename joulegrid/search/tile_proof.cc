#include "joulegrid/search/tile_proof.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "joulegrid/search/placement_bound.h"
#include "joulegrid/search/tile_pricer.h"

namespace joulegrid {

namespace {

using Signed = PlacementBound::Signed;
using Multipliers = PlacementBound::Multipliers;

/// A set of choices that may hold cheaper tiles than the best known.
struct Node {
  TileChoices choices;
  std::shared_ptr<const Multipliers> multipliers;
  Signed bound = 0;
};

class Proof {
 public:
  Proof(const Epoch& epoch, const EpochTiles& known, const TileProofOptions& options)
      : epoch_(epoch), options_(options), bound_(epoch, options.candidates), best_(known) {
    best_steps_ = static_cast<Signed>(TilePricer(epoch, known, {0, 0}).steps(known[0][0]));
  }

  TileProof run() {
    Node root;
    root.choices = bound_.everything();
    root.multipliers = std::make_shared<const Multipliers>(bound_.multipliers_of(bound_.chosen(best_)));
    std::size_t bytes = 1;
    for (const auto& shares : root.multipliers->shares) bytes += sizeof(shares[0]) * shares.size();
    const std::size_t most_open = std::max(std::size_t{64}, (std::size_t{1} << 28) / bytes);
    add(std::move(root), root_steps);
    while (!open_.empty() && !stopped() && open_.begin()->first < best_steps_) {
      if (options_.progress) options_.progress({GridSteps(static_cast<Wide>(best_steps_)), lower_bound(), nodes_});
      // The node of the least bound raises the bound of all; where they get too many, the one that is nearest to its end.
      const auto next = open_.size() < most_open ? open_.begin() : std::prev(open_.end());
      const Node node = std::move(next->second);
      open_.erase(next);
      branch(node);
    }
    return {best_, GridSteps(static_cast<Wide>(best_steps_)), lower_bound(), nodes_, evaluations_};
  }

 private:
  static constexpr int root_steps = 100;
  static constexpr int node_steps = 12;
  static constexpr double few_combinations = 300;

  bool stopped() const { return options_.stop != nullptr && options_.stop->requested(); }

  /// Of all tiles: those that no open node holds cost no less than the best known.
  GridSteps lower_bound() const {
    const Signed least = open_.empty() ? best_steps_ : open_.begin()->first;
    return GridSteps(static_cast<Wide>(std::clamp(least, Signed{0}, best_steps_)));
  }

  static ChosenTiles smallest_of(const TileChoices& choices, const PlacementBound::Value& value) {
    ChosenTiles tiles;
    for (std::size_t x = 0; x < choices.size(); ++x) tiles.push_back(choices[x][value.smallest[x]]);
    return tiles;
  }

  void consider(const ChosenTiles& chosen, Signed steps) {
    ++evaluations_;
    if (steps >= best_steps_) return;
    best_steps_ = steps;
    best_ = bound_.tiles_of(chosen);
  }

  /// Prices all combinations of few choices. Those of the coordinate with most are innermost: the others are then fixed.
  void price_all(const TileChoices& choices) {
    std::size_t free = 0;
    for (std::size_t x = 1; x + 1 < choices.size(); ++x) {
      if (choices[x].size() > choices[free].size()) free = x;
    }
    std::vector<std::size_t> at(choices.size());
    for (std::size_t x = 0; x < choices.size();) {
      ChosenTiles chosen;
      for (std::size_t y = 0; y < choices.size(); ++y) chosen.push_back(choices[y][at[y]]);
      TilePricer pricer(epoch_, bound_.tiles_of(chosen), {free / epoch_.layers(), free % epoch_.layers()});
      for (const std::uint32_t choice : choices[free]) {
        chosen[free] = choice;
        consider(chosen, static_cast<Signed>(pricer.steps(bound_.tiles(free)[choice])));
      }
      for (x = 0; x < choices.size(); ++x) {
        if (x == free) continue;
        if (++at[x] < choices[x].size()) break;
        at[x] = 0;
      }
    }
  }

  void price(const ChosenTiles& chosen) {
    TileChoices single;
    for (const std::uint32_t choice : chosen) single.push_back({choice});
    price_all(single);
  }

  /// The best multipliers so far, what they give, and where they give it.
  struct Tried {
    std::shared_ptr<const Multipliers> multipliers;
    PlacementBound::Boxes boxes;
    PlacementBound::Value value;
  };

  std::optional<Tried> attempt(const TileChoices& choices, std::shared_ptr<const Multipliers> multipliers) {
    ++evaluations_;
    Tried tried{std::move(multipliers), {}, {}};
    tried.boxes = bound_.boxes_of(choices, tried.multipliers->levels);
    if (tried.boxes.empty) return std::nullopt;
    tried.value = bound_.evaluate(choices, *tried.multipliers, tried.boxes);
    return tried;
  }

  /// The best bound of a node that so many steps find; nothing where no choice has a packing. Starts from the multipliers of
  /// the node's parent, from those that suit the tiles which these find best, and from the mean of both.
  std::optional<Tried> best_bound(const Node& node, int steps) {
    std::optional<Tried> best = attempt(node.choices, node.multipliers);
    if (!best || best->value.bound >= best_steps_) return best;
    const auto improve = [&](Multipliers multipliers) {
      std::optional<Tried> tried = attempt(node.choices, std::make_shared<const Multipliers>(std::move(multipliers)));
      if (!tried) best.reset();
      if (best && tried->value.bound > best->value.bound) best = std::move(tried);
    };
    Multipliers fresh = bound_.multipliers_of(smallest_of(node.choices, best->value));
    Multipliers mean = PlacementBound::mean_of(fresh, *best->multipliers);
    improve(std::move(fresh));
    if (best) improve(std::move(mean));
    if (!best) return best;

    Multipliers current = *best->multipliers;
    PlacementBound::Value value = best->value;
    double ambition = 1.02;  // times the distance to the best price is how far a step aims
    int failures = 0;
    const int patience = steps == root_steps ? 10 : 3;
    for (int step = 0; step < steps && best->value.bound < best_steps_ && !stopped(); ++step) {
      const double distance = ambition * static_cast<double>(best_steps_ - value.bound);
      current = bound_.step(node.choices, current, best->boxes, value, distance);
      value = bound_.evaluate(node.choices, current, best->boxes);
      ++evaluations_;
      if (value.bound > best->value.bound) {
        best->value = value;
        best->multipliers = std::make_shared<const Multipliers>(current);
        failures = 0;
      } else if (++failures >= patience) {
        ambition /= 2;
        failures = 0;
        current = *best->multipliers;
        value = best->value;
      }
    }
    return best;
  }

  /// Leaves only choices that some tiles cheaper than the best known may take. Whether many were left out.
  bool leave_out(TileChoices& choices, const PlacementBound::Value& value) const {
    std::size_t before = 0;
    std::size_t after = 0;
    for (std::size_t x = 0; x < choices.size(); ++x) {
      const Signed others = value.bound - value.costs[x][value.smallest[x]];
      std::vector<std::uint32_t> kept;
      for (std::size_t c = 0; c < choices[x].size(); ++c) {
        if (others + value.costs[x][c] < best_steps_) kept.push_back(choices[x][c]);
      }
      before += choices[x].size();
      after += kept.size();
      choices[x] = std::move(kept);
    }
    return after * 5 < before * 4;
  }

  static double combinations(const TileChoices& choices) {
    double product = 1;
    for (const std::vector<std::uint32_t>& of : choices) product *= static_cast<double>(of.size());
    return product;
  }

  /// Looks at a set of choices: nothing in it can be better, or it has few enough to price, or it becomes a node.
  void add(Node node, int steps) {
    constexpr int most_rounds = 3;
    ++nodes_;
    for (int round = 0; round < most_rounds && !stopped(); ++round) {
      const std::optional<Tried> tried = best_bound(node, steps);
      if (!tried) return;
      node.bound = std::max(node.bound, tried->value.bound);
      node.multipliers = tried->multipliers;
      price(smallest_of(node.choices, tried->value));
      const bool fewer = leave_out(node.choices, tried->value);
      if (node.bound >= best_steps_ || combinations(node.choices) == 0) return;
      if (!fewer) break;
    }
    if (combinations(node.choices) <= few_combinations && !stopped()) {
      price_all(node.choices);
    } else {
      const Signed bound = node.bound;
      open_.emplace(bound, std::move(node));
    }
  }

  /// How far apart the smallest and the largest of some sizes are.
  class Span {
   public:
    void add(double size) {
      least_ = std::min(least_, size);
      most_ = std::max(most_, size);
    }
    double ratio() const { return std::log(most_ / least_); }

   private:
    double least_ = std::numeric_limits<double>::infinity();
    double most_ = 0;
  };

  /// Cuts the choices of one call group and layer in two halves: by tile_j, on which most buffers depend, or by tile_i·tile_j.
  void branch(const Node& node) {
    std::size_t widest = 0;
    bool by_columns = false;
    double most = -1;
    for (std::size_t x = 0; x < node.choices.size(); ++x) {
      if (node.choices[x].size() < 2) continue;
      Span columns;
      Span cells;
      for (const std::uint32_t choice : node.choices[x]) {
        const Tile tile = bound_.tiles(x)[choice];
        columns.add(static_cast<double>(tile.j));
        cells.add(static_cast<double>(tile.i) * static_cast<double>(tile.j));
      }
      const double of_columns = 2 * columns.ratio();
      const double spread = std::max(of_columns, cells.ratio()) * std::sqrt(bound_.weight(x));
      if (spread <= most) continue;
      most = spread;
      widest = x;
      by_columns = of_columns > cells.ratio();
    }
    const std::vector<Tile>& tiles = bound_.tiles(widest);
    std::vector<std::uint32_t> sorted = node.choices[widest];
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Wide of_a = by_columns ? tiles[a].j : Wide{tiles[a].i} * tiles[a].j;
      const Wide of_b = by_columns ? tiles[b].j : Wide{tiles[b].i} * tiles[b].j;
      return of_a != of_b ? of_a < of_b : a < b;
    });
    const auto half = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    Node low = node;
    Node high = node;
    low.choices[widest].assign(sorted.begin(), half);
    high.choices[widest].assign(half, sorted.end());
    add(std::move(low), node_steps);
    add(std::move(high), node_steps);
  }

  const Epoch& epoch_;
  const TileProofOptions& options_;
  PlacementBound bound_;
  EpochTiles best_;
  Signed best_steps_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t evaluations_ = 0;
  std::multimap<Signed, Node> open_;  // by bound
};

}  // namespace

TileProof prove_epoch_tiles(const Epoch& epoch, const EpochTiles& known, const TileProofOptions& options) {
  return Proof(epoch, known, options).run();
}

}  // namespace joulegrid
