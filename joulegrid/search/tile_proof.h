#pragma once

#include <cstdint>
#include <functional>

#include "joulegrid/base/quantity.h"
#include "joulegrid/base/stop.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/sa_cache.h"
#include "joulegrid/search/tile_sizes.h"

namespace joulegrid {

/// How far a proof is.
struct ProofProgress {
  GridSteps best;
  GridSteps lower_bound;
  std::uint64_t nodes = 0;
};

struct TileProofOptions {
  Candidates candidates = Candidates::divisors;
  const Stop* stop = nullptr;                            ///< ends the proof early, with the bound so far
  std::function<void(const ProofProgress&)> progress{};  ///< called now and then
};

/// The best tiles known, and what no tiles of the candidates cost less than.
struct TileProof {
  EpochTiles tiles;
  GridSteps steps;
  GridSteps lower_bound;
  std::uint64_t nodes = 0;        ///< sets of tile choices looked at
  std::uint64_t evaluations = 0;  ///< bounds and prices computed

  bool optimal() const { return lower_bound == steps; }
};

/// Branch and bound over all tiles of an epoch at once, from known tiles that are candidates themselves. Without `stop` the
/// result is a cheapest epoch of all, and the bound its price; stopped early, the bound is below. docs/search.md, "The best
/// tiles of an epoch". Throws Error(overflow) where the sums of a bound may not fit, Error(bad_input) where a layer has
/// millions of tiles.
TileProof prove_epoch_tiles(const Epoch& epoch, const EpochTiles& known, const TileProofOptions& options = {});

}  // namespace joulegrid
