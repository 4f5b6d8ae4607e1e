#pragma once

#include <vector>

#include "joulegrid/schedule/nest_blocks.h"
#include "joulegrid/schedule/read_pattern.h"

namespace joulegrid {

/// Blocks of an operand at one depth that have the same shape: those in the last row of blocks, which may be clipped, or not,
/// and likewise in the last column.
struct BlockShape {
  bool last_row = false;
  bool last_column = false;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  Wide blocks = 1;  ///< how many there are
};

/// The shapes that the blocks of `operand` have at `depth`: one, two or four.
std::vector<BlockShape> block_shapes(const NestBlocks& blocks, Operand operand, std::size_t depth);

/// How often the blocks of `operand` at depth `inner` are visited, seen from the blocks of one shape at depth `outer` that they
/// lie in, outer <= inner: for each element of such an outer block the visits to its inner block, summed over all outer blocks
/// of the shape. A visit is an uninterrupted stay of the walk in the block.
///
/// Exact in every variant, also with clipped blocks; docs/loop-nests.md, "Counting visits". Its cost grows with the loops and
/// the kinds of rows and columns that it finds. Throws Error(bad_input) where an axis has more than some millions of pieces.
ReadPattern block_visits(const NestBlocks& blocks, Operand operand, const BlockShape& shape, std::size_t outer,
                         std::size_t inner);

/// The visits to all blocks of the shape at `depth`.
inline Wide total_visits(const NestBlocks& blocks, Operand operand, const BlockShape& shape, std::size_t depth) {
  return block_visits(blocks, operand, shape, depth, depth).reads[0][0];
}

}  // namespace joulegrid
