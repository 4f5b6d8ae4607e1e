#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "joulegrid/grid/overlay.h"

namespace joulegrid {

/// Successive rows (or columns) of a matrix that are all of one kind.
struct AxisPiece {
  std::uint32_t kind = 0;
  std::uint64_t length = 1;

  bool operator==(const AxisPiece&) const = default;
};

/// The pieces of a whole axis, from its first row on; neighbours are of different kinds.
using AxisPieces = std::vector<AxisPiece>;

/// Appends, merging with the last piece where that is of the same kind.
void append(AxisPieces& pieces, AxisPiece piece);

/// How often each element of a matrix is read: rows and columns of the same kind are read alike, so that few numbers say it
/// for all.
struct ReadPattern {
  AxisPieces rows;
  AxisPieces columns;
  std::vector<std::vector<Wide>> reads;  ///< by row kind, then column kind

  /// All elements `reads` times.
  static ReadPattern even(std::uint64_t rows, std::uint64_t columns, Wide reads) {
    return {{{0, rows}}, {{0, columns}}, {{reads}}};
  }

  /// Every count of reads goes through `change`.
  void transform(const std::function<Wide(Wide)>& change);
};

/// How often each cell of an array is read, as the sum of patterns that each lie row by row in the array's first cells: one for
/// a bulk array, up to four (whole and last rows and columns of blocks) for a buffer.
using CellReads = std::vector<ReadPattern>;

/// Runs of equally read cells in cell order; cells that nobody reads have runs too. Costs time in proportion to the rows where
/// the patterns differ within one; throws Error(bad_input) where that is past a few hundred million runs.
void for_each_run(const CellReads& reads, const std::function<void(const Run&)>& visit);

/// The same cells by reads, most read first: one run per distinct count, zero left out.
std::vector<Run> profile(const CellReads& reads);

/// So many elements, read so often according to each of several patterns.
struct JointRun {
  Wide cells = 0;
  std::vector<Wide> reads;  ///< by pattern
};

/// Elements counted by what several patterns of one matrix say of them.
std::vector<JointRun> joint_runs(const std::vector<const ReadPattern*>& patterns);

}  // namespace joulegrid
