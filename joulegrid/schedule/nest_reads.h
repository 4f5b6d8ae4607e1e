#pragma once

#include <array>
#include <string>
#include <vector>

#include "joulegrid/grid/overlay.h"
#include "joulegrid/schedule/nest.h"
#include "joulegrid/schedule/read_pattern.h"

namespace joulegrid {

/// An operand's bulk array (level 0) or one of its buffers, from the outermost (level 1) on.
struct NestArray {
  Operand operand = Operand::a;
  std::size_t level = 0;

  /// "A" for the bulk array, "A@1" for the outermost buffer.
  std::string name() const;
};

/// All buffers, then the bulk arrays.
std::vector<NestArray> nest_arrays(const Nest& nest);

/// How often one GEMM call reads each cell of each array, by the schedule of a nest; docs/loop-nests.md derives it.
struct NestReads {
  /// By operand, then level: the bulk array first, then its buffers from the outermost to the innermost. C's bulk array
  /// includes one exit read a cell.
  std::array<std::vector<CellReads>, 3> levels;
  Wide tmp = 0;  ///< of the one cell through which products and sums pass

  const CellReads& of(const NestArray& array) const { return levels[static_cast<std::size_t>(array.operand)][array.level]; }
};

/// Throws Error(bad_input) where the nest does not cover the GEMM, or is past the limits of block_visits and for_each_run.
NestReads nest_reads(const Gemm& gemm, const Nest& nest);

/// Runs of an overlay's cells from the first one on, as buffers of `layer`; reads are multiplied by `calls`.
std::vector<Buffer> stacked(const std::vector<Run>& runs, Wide calls = 1, std::size_t layer = 0);

/// One GEMM's arrays: tmp, then nest_arrays in order. The cells of each lie by reads, most read first.
std::vector<Overlay> nest_overlays(const Gemm& gemm, const Nest& nest);

}  // namespace joulegrid
