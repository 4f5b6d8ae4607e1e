#include "joulegrid/grid/cell_addresses.h"

#include <algorithm>

#include "joulegrid/base/error.h"

namespace joulegrid {

CellAddresses::CellAddresses(const Packing& packing, std::size_t overlay) {
  constexpr Wide last = ~std::uint64_t{0};
  for (const PackedRegion& region : packing.regions) {
    if (region.overlay != overlay) continue;
    if (region.last_address > last) throw Error(ErrorCode::overflow, "the schedule needs addresses past 64 bits");
    const Wide first_cell = region.first_cell - 1;
    runs_.push_back({static_cast<std::uint64_t>(first_cell + region.cells),
                     static_cast<std::uint64_t>(region.first_address) - static_cast<std::uint64_t>(first_cell)});
  }
  std::sort(runs_.begin(), runs_.end(), [](const PlacedRun& a, const PlacedRun& b) { return a.end < b.end; });
}

}  // namespace joulegrid
