#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "joulegrid/search/nest_draft.h"

namespace joulegrid {

/// What a nest reads, as if the reads of each array were spread evenly over its cells: what steers the search for nests.
/// With perfect loops the reads of every array are exact, and so is a forward nest's price; a reflected one costs no more than
/// this says (docs/loop-nests.md). Clipped blocks are taken to be as large as the mean of their loop.
struct EvenReads {
  static constexpr std::size_t tmp = 3;           ///< 0 to 2 are the bulk arrays, C's with one exit read a cell
  static constexpr std::size_t first_buffer = 4;  ///< the others follow by depth, then operand
  static constexpr std::size_t capacity = first_buffer + 3 * LoopOrder::capacity;

  std::size_t arrays = 0;
  std::array<double, capacity> reads_per_cell;
  std::array<double, capacity> cells;
};

/// By one GEMM call.
void even_reads(const NestDraft& draft, EvenReads& reads);

/// The steps of a GEMM whose arrays are read like this.
double even_steps(const EvenReads& reads);

/// The sum of the distances of the first `cells` cells, docs/movement-model.md; exact while doubles are.
inline double distance_sum_of(double cells) {
  const auto root = static_cast<double>(static_cast<std::int64_t>(std::sqrt(cells)));
  return root * (root + 1) * (4 * root - 1) * (1.0 / 6) + (cells - root * root) * (root + 1);
}

}  // namespace joulegrid
