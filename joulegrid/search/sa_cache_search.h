#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "joulegrid/base/quantity.h"
#include "joulegrid/base/stop.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/sa_cache.h"
#include "joulegrid/search/tile_sizes.h"

namespace joulegrid {

/// Where a coordinate descent begins, in the order in which they are tried.
enum class Start { independent_layer_optima, all_minimum_tiles, all_maximum_tiles };

inline constexpr std::array<Start, 3> all_starts{Start::independent_layer_optima, Start::all_minimum_tiles,
                                                 Start::all_maximum_tiles};

/// "independent_layer_optima", "all_minimum_tiles" or "all_maximum_tiles".
const char* start_name(Start start);

/// How far a descent is.
struct DescentProgress {
  Start start;
  int sweep;
  GridSteps best;  ///< the cheapest so far, of all starts
};

struct SaCacheSearchOptions {
  Candidates candidates = Candidates::divisors;
  const Stop* stop = nullptr;                              ///< ends the search early, with the best so far
  std::function<void(const DescentProgress&)> progress{};  ///< called after every sweep
};

/// The best tile of a GEMM.
struct GemmTile {
  Tile tile;
  GridSteps steps;
  std::uint64_t evaluations = 0;  ///< prices and bounds computed
  bool complete = true;           ///< false: stopped early, a better tile may exist
};

/// The cheapest tile, by its own packing; of equally cheap ones the first in lexicographic order. Exact: rectangles of tiles
/// are left out only where a proven bound says that none of them can win. Throws Error(overflow) where the price of no tile
/// fits 128 bits.
GemmTile search_gemm_tile(const Gemm& gemm, const SaCacheSearchOptions& options = {});

/// The result of three-start coordinate descent.
struct EpochTilesFound {
  EpochTiles tiles;
  GridSteps steps;
  Start start = Start::independent_layer_optima;  ///< where the winning descent began
  int sweeps = 0;                                 ///< of the winning descent, the last one (which changed nothing) included
  std::uint64_t evaluations = 0;                  ///< prices and bounds computed, by all starts
  bool complete = true;                           ///< false: stopped early
};

/// Coordinate descent from each of the three starts. One coordinate is the tile of one call group and layer; it takes the
/// cheapest candidate if that is strictly cheaper than what it has (the first in lexicographic order on a tie). The descent
/// ends after the first sweep over all coordinates that changes nothing; the cheapest start wins, the earlier on a tie. Throws
/// Error(overflow) where no start leads to a price that fits 128 bits.
EpochTilesFound search_epoch_tiles(const Epoch& epoch, const SaCacheSearchOptions& options = {});

}  // namespace joulegrid
