#include "joulegrid/search/sa_cache_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "joulegrid/base/error.h"
#include "joulegrid/search/cheapest_tile.h"
#include "joulegrid/search/tile_pricer.h"

namespace joulegrid {

namespace {

bool stopped(const SaCacheSearchOptions& options) { return options.stop != nullptr && options.stop->requested(); }

/// The sizes that the tile of every call group and layer may take, each dimension's listed once.
class TileMenu {
 public:
  TileMenu(const Epoch& epoch, Candidates candidates) : epoch_(epoch) {
    const auto list = [&](std::uint64_t dimension) {
      if (!sizes_.contains(dimension)) sizes_.emplace(dimension, TileSizes(dimension, candidates));
    };
    for (const CallGroup& group : epoch.call_groups()) list(group.rows);
    std::for_each(epoch.widths().begin() + 1, epoch.widths().end(), list);
  }

  const TileSizes& rows(TileIndex index) const { return sizes_.at(epoch_.call_groups()[index.group].rows); }
  const TileSizes& columns(TileIndex index) const { return sizes_.at(epoch_.widths()[index.layer + 1]); }

 private:
  const Epoch& epoch_;
  std::map<std::uint64_t, TileSizes> sizes_;
};

/// The best tile of a GEMM alone. Unpriceable where none has a price.
PricedTile best_alone(const Gemm& gemm, const TileSizes& rows, const TileSizes& columns, const Stop* stop,
                      std::uint64_t& evaluations) {
  const Tile smallest{1, 1};
  PricedTile best{smallest, unpriceable};
  (void)price_or_unpriceable([&] {  // what does not depend on the tile may be too much already
    TilePricer pricer(Epoch::of(gemm), {{smallest}}, {0, 0});
    best = cheapest_tile(pricer, rows, columns, std::nullopt, evaluations, stop);
    return best.steps;
  });
  return best;
}

EpochTiles starting_tiles(const Epoch& epoch, Start start, const TileMenu& menu, const Stop* stop, std::uint64_t& evaluations) {
  EpochTiles tiles;
  for (std::size_t group = 0; group < epoch.call_groups().size(); ++group) {
    std::vector<Tile>& of_group = tiles.emplace_back();
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      const Gemm gemm = epoch.gemm(epoch.call_groups()[group].rows, layer);
      const TileIndex index{group, layer};
      switch (start) {
        case Start::independent_layer_optima:
          of_group.push_back(best_alone(gemm, menu.rows(index), menu.columns(index), stop, evaluations).tile);
          break;
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
    steps_ = price_or_unpriceable([&] { return TilePricer(epoch_, tiles_, {0, 0}).steps(tiles_[0][0]); });
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
    PricedTile found{tile, steps_};
    (void)price_or_unpriceable([&] {  // the other tiles alone may read too much
      TilePricer pricer(epoch_, tiles_, index);
      found = cheapest_tile(pricer, menu_.rows(index), menu_.columns(index), found, evaluations_, options_.stop);
      return found.steps;
    });
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
  GemmTile result;
  const PricedTile found = best_alone(gemm, TileSizes(gemm.m, options.candidates), TileSizes(gemm.n, options.candidates),
                                      options.stop, result.evaluations);
  if (found.steps == unpriceable) throw_overflow();
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
    Descent descent(epoch, menu, options, starting_tiles(epoch, start, menu, options.stop, evaluations));
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
  if (best->steps.count() == unpriceable) throw_overflow();
  best->evaluations = evaluations;
  best->complete = !stopped(options);
  return *best;
}

}  // namespace joulegrid
