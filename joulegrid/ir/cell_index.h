#pragma once

#include <cstdint>
#include <vector>

#include "joulegrid/ir/address_hash.h"

namespace joulegrid::ir {

/// The number of a cell within its program: 0, 1, 2, … in the order in which the cells are first written.
using Cell = std::uint32_t;

/// Numbers addresses: a table where they lie densely, a hash table beyond. It takes at most about 48 bytes per address (and
/// 16 KiB), however large the addresses are, of which 8 are the list of addresses.
class CellIndex {
 public:
  static constexpr Cell none = ~Cell{0};

  /// The address's number, or `none`.
  Cell find(std::uint64_t address) const {
    if (address < table_.size()) return table_[address];
    const Cell* found = beyond_.find(address);
    return found != nullptr ? *found : none;
  }

  /// The address's number, the next free one where it had none. Throws Error(overflow) past 2^32 - 1 cells.
  Cell insert(std::uint64_t address) {
    const Cell known = find(address);
    return known != none ? known : append(address);
  }

  /// By number.
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }

 private:
  static constexpr std::uint64_t entries_per_cell = 4;  // the table may be so sparse

  Cell append(std::uint64_t address);

  std::vector<std::uint64_t> addresses_;
  std::vector<Cell> table_ = std::vector<Cell>(4096, none);
  AddressHash<Cell> beyond_;
};

}  // namespace joulegrid::ir
