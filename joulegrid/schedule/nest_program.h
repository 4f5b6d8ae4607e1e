#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "joulegrid/schedule/nest.h"
#include "joulegrid/schedule/nest_blocks.h"

namespace joulegrid {

/// A cell of an array of a nest. Level 0 is the bulk array (row by row), level j the operand's j-th buffer from the outside.
struct NestCell {
  enum class Array : std::uint8_t { a, b, c, tmp };
  Array array = Array::tmp;
  std::uint32_t level = 0;
  std::uint64_t cell = 0;

  auto operator<=>(const NestCell&) const = default;
};

/// One instruction: `right` is `left` for a copy.
struct NestInstruction {
  enum class Operation : std::uint8_t { copy, add, mul };
  Operation operation = Operation::copy;
  NestCell destination;
  NestCell left;
  NestCell right;
};

/// Emits the straight-line program of a nest, instruction by instruction; C is then complete, and its exit reads are left to
/// the caller. docs/loop-nests.md defines what it does. Keeps a mark per cell of each buffer and of C, and nothing that grows
/// with the program; throws Error(bad_input) where the nest does not cover the GEMM.
class NestProgram {
 public:
  using Visitor = std::function<void(const NestInstruction&)>;

  NestProgram(const Gemm& gemm, const Nest& nest);

  void run(const Visitor& visit);

 private:
  /// A block of an operand, as the first row and column of its elements and their number; the last ones are clipped.
  struct Block {
    std::uint64_t first_row = 0;
    std::uint64_t first_column = 0;
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;

    bool operator==(const Block&) const = default;
    std::uint64_t cells() const { return rows * columns; }
    std::uint64_t cell(std::uint64_t row, std::uint64_t column) const {
      return (row - first_row) * columns + (column - first_column);
    }
  };

  /// An array of an operand, the block that it holds, and which of the block's cells have a value.
  struct Level {
    std::size_t depth = 0;
    Block block;
    std::vector<bool> present;
  };

  std::vector<Level>& levels(Operand operand) { return levels_[static_cast<std::size_t>(operand)]; }
  static NestCell cell_of(Operand operand, std::size_t level, std::uint64_t cell);

  Block block_at(Operand operand, std::size_t depth) const;
  void walk(std::size_t depth);
  void enter(Operand operand, std::size_t level);
  void fill(Operand operand, std::size_t level);
  void merge(std::size_t level);
  void product();
  NestCell fetch(Operand operand);
  void arrive(const NestCell& a, const NestCell& b);
  std::size_t level_that_comes_again() const;
  void emit(NestInstruction::Operation operation, const NestCell& destination, const NestCell& left, const NestCell& right);

  NestBlocks blocks_;
  std::array<std::vector<Level>, 3> levels_;
  std::vector<std::vector<std::pair<Operand, std::size_t>>> marks_;  // by depth: operands and levels
  std::vector<bool> backwards_;                                      // by loop: its current (or next) pass
  std::vector<bool> final_;                                          // by loop: its current pass ends with the current index
  std::vector<bool> single_;                                         // by loop: its current pass has one index
  std::array<std::uint64_t, 3> at_{};                                // by dimension: the first index of the current block
  const Visitor* visit_ = nullptr;
};

}  // namespace joulegrid
