#pragma once

#include <cstdint>
#include <optional>

#include "joulegrid/base/error.h"
#include "joulegrid/base/stop.h"
#include "joulegrid/search/tile_pricer.h"
#include "joulegrid/search/tile_sizes.h"

namespace joulegrid {

/// The price of a schedule whose price does not fit 128 bits: it loses against every other one.
inline constexpr Wide unpriceable = ~Wide{0};

/// price(), or `unpriceable` where it throws Error(overflow). A bound that overflows bounds prices that do.
template <typename Price>
Wide price_or_unpriceable(const Price& price) {
  try {
    return price();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::overflow) throw;
    return unpriceable;
  }
}

/// A tile and what the epoch costs with it.
struct PricedTile {
  Tile tile;
  Wide steps = 0;
};

/// Branch and bound over the rectangle `rows` × `columns` of tiles: the first in lexicographic order of the cheapest ones,
/// or `incumbent` where none is strictly cheaper than it (`unpriceable` where none has a price). Adds to `evaluations` the
/// prices and bounds computed. Where `stop` asks it to end early the result is the best so far.
PricedTile cheapest_tile(TilePricer& pricer, const TileSizes& rows, const TileSizes& columns,
                         std::optional<PricedTile> incumbent, std::uint64_t& evaluations, const Stop* stop);

}  // namespace joulegrid
