#include "joulegrid/ir/cell_set.h"

#include <bit>

namespace joulegrid::ir {

bool CellSet::insert_beyond(std::uint64_t address) {
  if (address / bits_per_cell <= size_) {
    limit_ = std::bit_ceil(address + 1);
    bits_.resize(limit_ / 64);
    beyond_.take_below(limit_, [this](std::uint64_t moved, Nothing) { bits_[moved / 64] |= std::uint64_t{1} << (moved % 64); });
    return insert(address);
  }
  if (beyond_.find(address) != nullptr) return false;
  beyond_[address];
  ++size_;
  return true;
}

}  // namespace joulegrid::ir
