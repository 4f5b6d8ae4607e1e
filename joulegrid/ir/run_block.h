#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulegrid/ir/run.h"

namespace joulegrid::ir {

/// The first fault of each lane of a block.
class FaultLog {
 public:
  struct Entry {
    std::uint64_t instruction;
    Fault fault;
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  explicit FaultLog(std::size_t lanes) : entries_(lanes) { clear(); }

  void clear() { entries_.assign(entries_.size(), {none, Fault::zero_divisor}); }

  /// Keeps the fault if it is the lane's first.
  void note(std::size_t lane, std::uint64_t instruction, Fault fault) {
    if (entries_[lane].instruction == none) entries_[lane] = {instruction, fault};
  }

  /// The instruction is `none` where the lane had no fault.
  const Entry& at(std::size_t lane) const { return entries_[lane]; }

 private:
  std::vector<Entry> entries_;
};

/// Instances side by side: cell c of lane l is cells[c · lanes + l]. The cells are aligned for vectors, and `lanes` is a whole
/// number of them. A lane with a fault goes on with values that mean nothing.
template <typename Value>
struct Block {
  Value* cells;
  std::size_t lanes;
  FaultLog* faults;
};

/// Values in one vector of the instructions that run_block will use on this machine.
std::size_t byte_lanes();
std::size_t integer_lanes();

/// Runs all steps on all lanes of the block.
void run_block(std::span<const Program::Step> steps, const Block<std::int8_t>& block);
void run_block(std::span<const Program::Step> steps, const Block<std::int64_t>& block);

}  // namespace joulegrid::ir
