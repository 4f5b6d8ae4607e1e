#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/schedule/nest.h"

namespace joulegrid {

/// The blocks into which a nest cuts each dimension of a GEMM. The blocks of a dimension at one depth are equally long but for
/// the last, which ends with the dimension: the loops cut nothing beyond it.
class NestBlocks {
 public:
  /// Throws Error(bad_input) where the trips of a dimension do not cover it.
  NestBlocks(const Gemm& gemm, const Nest& nest);

  const Nest& nest() const { return nest_; }
  const Gemm& gemm() const { return gemm_; }
  std::size_t loops() const { return nest_.loops.size(); }

  /// The length of a whole block at `depth`: the product of the dimension's trips from there on.
  std::uint64_t extent(Dimension dimension, std::size_t depth) const { return of(dimension).extent[depth]; }

  /// How many blocks there are at `depth`, the last one included.
  std::uint64_t count(Dimension dimension, std::size_t depth) const { return of(dimension).count[depth]; }

  /// The length of the last block at `depth`.
  std::uint64_t last_extent(Dimension dimension, std::size_t depth) const {
    return size_of(gemm_, dimension) - (count(dimension, depth) - 1) * extent(dimension, depth);
  }

  /// The trips multiply to more than the size, so that the last block may be shorter than the others.
  bool clipped(Dimension dimension) const { return extent(dimension, 0) > size_of(gemm_, dimension); }

  /// Trips of loop `loop` in a whole block, and in the last block.
  std::uint64_t trips(std::size_t loop) const { return nest_.loops[loop].trips; }
  std::uint64_t last_trips(std::size_t loop) const {
    const Dimension dimension = nest_.loops[loop].dimension;
    return count(dimension, loop + 1) - (count(dimension, loop) - 1) * trips(loop);
  }

 private:
  struct Cuts {
    std::vector<std::uint64_t> extent, count;  // by depth, 0 to loops()
  };
  const Cuts& of(Dimension dimension) const { return cuts_[static_cast<std::size_t>(dimension)]; }

  Nest nest_;
  Gemm gemm_;
  std::array<Cuts, 3> cuts_;
};

}  // namespace joulegrid
