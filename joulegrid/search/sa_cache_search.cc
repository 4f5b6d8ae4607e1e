#include "joulegrid/search/sa_cache_search.h"

#include <optional>
#include <vector>

#include "joulegrid/base/error.h"
#include "joulegrid/search/cheapest_tile.h"
#include "joulegrid/search/tile_pricer.h"

namespace joulegrid {

namespace {

bool stopped(const SaCacheSearchOptions& options) { return options.stop != nullptr && options.stop->requested(); }

/// The sizes that the tile of every call group and layer may take.
class TileMenu {
 public:
  TileMenu(const Epoch& epoch, Candidates candidates) {
    for (const CallGroup& group : epoch.call_groups()) rows_.emplace_back(group.rows, candidates);
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) columns_.emplace_back(epoch.widths()[layer + 1], candidates);
  }

  const TileSizes& rows(TileIndex index) const { return rows_[index.group]; }
  const TileSizes& columns(TileIndex index) const { return columns_[index.layer]; }

 private:
  std::vector<TileSizes> rows_;
  std::vector<TileSizes> columns_;
};

EpochTiles starting_tiles(const Epoch& epoch, Start start, const SaCacheSearchOptions& options, std::uint64_t& evaluations) {
  EpochTiles tiles;
  for (const CallGroup& group : epoch.call_groups()) {
    std::vector<Tile>& of_group = tiles.emplace_back();
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      const Gemm gemm = epoch.gemm(group.rows, layer);
      switch (start) {
        case Start::independent_layer_optima: {
          const GemmTile found = search_gemm_tile(gemm, options);
          evaluations += found.evaluations;
          of_group.push_back(found.tile);
          break;
        }
        case Start::all_minimum_tiles: of_group.push_back({1, 1}); break;
        case Start::all_maximum_tiles: of_group.push_back({gemm.m, gemm.n}); break;
      }
    }
  }
  return tiles;
}

/// One descent, from one start.
class Descent {
 public:
  Descent(const Epoch& epoch, const TileMenu& menu, const SaCacheSearchOptions& options, EpochTiles tiles)
      : epoch_(epoch), menu_(menu), options_(options), tiles_(std::move(tiles)) {
    steps_ = TilePricer(epoch_, tiles_, {0, 0}).steps(tiles_[0][0]);
    ++evaluations_;
  }

  const EpochTiles& tiles() const { return tiles_; }
  Wide steps() const { return steps_; }
  int sweeps() const { return sweeps_; }
  std::uint64_t evaluations() const { return evaluations_; }

  /// Visits every coordinate once; whether anything changed.
  bool sweep() {
    ++sweeps_;
    bool changed = false;
    for (std::size_t group = 0; group < tiles_.size(); ++group) {
      for (std::size_t layer = 0; layer < tiles_[group].size(); ++layer) {
        if (stopped(options_)) return false;
        if (visit({group, layer})) changed = true;
      }
    }
    return changed;
  }

 private:
  bool visit(TileIndex index) {
    // Nothing has changed since this coordinate was last looked at: it would find the same again.
    const std::size_t coordinates = tiles_.size() * epoch_.layers();
    if (unchanged_visits_ >= coordinates) return false;
    Tile& tile = tiles_[index.group][index.layer];
    TilePricer pricer(epoch_, tiles_, index);
    const PricedTile found =
        cheapest_tile(pricer, menu_.rows(index), menu_.columns(index), PricedTile{tile, steps_}, evaluations_, options_.stop);
    const bool changed = found.steps < steps_;
    unchanged_visits_ = changed ? 1 : unchanged_visits_ + 1;
    tile = found.tile;
    steps_ = found.steps;
    return changed;
  }

  const Epoch& epoch_;
  const TileMenu& menu_;
  const SaCacheSearchOptions& options_;
  EpochTiles tiles_;
  Wide steps_ = 0;
  int sweeps_ = 0;
  std::uint64_t evaluations_ = 0;
  std::size_t unchanged_visits_ = 0;  // in a row, the one that made the last change included
};

}  // namespace

const char* start_name(Start start) {
  switch (start) {
    case Start::independent_layer_optima: return "independent_layer_optima";
    case Start::all_minimum_tiles: return "all_minimum_tiles";
    case Start::all_maximum_tiles: return "all_maximum_tiles";
  }
  check(false, "unknown start");
  return "";
}

GemmTile search_gemm_tile(const Gemm& gemm, const SaCacheSearchOptions& options) {
  const Epoch epoch = Epoch::of(gemm);
  TilePricer pricer(epoch, {{{1, 1}}}, {0, 0});
  GemmTile result;
  const PricedTile found = cheapest_tile(pricer, TileSizes(gemm.m, options.candidates), TileSizes(gemm.n, options.candidates),
                                         std::nullopt, result.evaluations, options.stop);
  result.tile = found.tile;
  result.steps = GridSteps(found.steps);
  result.complete = !stopped(options);
  return result;
}

EpochTilesFound search_epoch_tiles(const Epoch& epoch, const SaCacheSearchOptions& options) {
  const TileMenu menu(epoch, options.candidates);
  std::optional<EpochTilesFound> best;
  std::uint64_t evaluations = 0;
  for (const Start start : all_starts) {
    if (best && stopped(options)) break;
    Descent descent(epoch, menu, options, starting_tiles(epoch, start, options, evaluations));
    for (bool changed = true; changed && !stopped(options);) {
      changed = descent.sweep();
      if (options.progress) {
        const GridSteps steps(descent.steps());
        options.progress({start, descent.sweeps(), best ? std::min(best->steps, steps) : steps});
      }
    }
    evaluations += descent.evaluations();
    if (!best || descent.steps() < best->steps.count()) {
      best = EpochTilesFound{descent.tiles(), GridSteps(descent.steps()), start, descent.sweeps()};
    }
  }
  best->evaluations = evaluations;
  best->complete = !stopped(options);
  return *best;
}

}  // namespace joulegrid
