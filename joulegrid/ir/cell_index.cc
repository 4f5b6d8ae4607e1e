#include "joulegrid/ir/cell_index.h"

#include <bit>

#include "joulegrid/base/error.h"

namespace joulegrid::ir {

Cell CellIndex::append(std::uint64_t address) {
  if (addresses_.size() >= none) throw Error(ErrorCode::overflow, "the program has more than 4294967295 cells");
  const auto cell = static_cast<Cell>(addresses_.size());
  addresses_.push_back(address);
  if (address >= table_.size() && address / entries_per_cell <= addresses_.size()) {
    table_.resize(std::bit_ceil(address + 1), none);
    beyond_.take_below(table_.size(), [this](std::uint64_t moved, Cell number) { table_[moved] = number; });
  }
  if (address < table_.size()) {
    table_[address] = cell;
  } else {
    beyond_[address] = cell;
  }
  return cell;
}

}  // namespace joulegrid::ir
