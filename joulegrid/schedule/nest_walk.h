#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "joulegrid/schedule/nest_blocks.h"

namespace joulegrid {

/// Indices of a loop that are alike to the walk.
struct IndexGroup {
  enum Kind : std::uint8_t { only, first, odd, even, last };
  Kind kind;
  unsigned parity;
  std::uint64_t count;

  bool is_first() const { return kind == first || kind == only; }
  bool is_last() const { return kind == last || kind == only; }
};

/// The indices 0 … trips − 1.
std::vector<IndexGroup> index_groups(std::uint64_t trips);

/// What the walk's future depends on where it enters a block at some depth. Sets of dimensions are bit masks.
///
/// `ranks` has a bit per set Z of dimensions: the parity of the number of blocks at this depth that the walk has left behind
/// and that are the last ones in all dimensions of Z. The bit of the empty set says whether the next loop runs backwards; the
/// others are needed to carry it on past clipped blocks, whose loops have other trips than those of whole blocks.
struct WalkState {
  std::uint8_t ranks = 0;
  std::uint8_t last = 0;  ///< the clipped dimensions in which this block is the last
  /// The walk ends here, for now: what follows is a step of an outer loop over the operand's absent dimension. Indices that do
  /// not let the operand's block stay over that step are left out.
  bool turning = false;

  bool backwards() const { return (ranks & 1U) != 0; }
  auto operator<=>(const WalkState&) const = default;
};

/// How many ways through the walk lead to each state, for one block of an operand (or several, summed).
using Tally = std::vector<std::pair<WalkState, Wide>>;  // by state, ascending

/// The walk of a nest through its blocks, as one operand sees it: a finite automaton that reads the indices of the loops from
/// the outermost inward; docs/loop-nests.md, "Counting visits".
class NestWalk {
 public:
  NestWalk(const NestBlocks& blocks, Operand operand) : blocks_(blocks), axes_(axes_of(operand)) {}

  /// Outside all loops.
  Tally start() const;

  /// The tally inside the loop: over all its indices, or over those of `group` alone, counted once.
  Tally inside(const Tally& tally, std::size_t loop, const std::optional<IndexGroup::Kind>& group) const;

  static unsigned bit(Dimension dimension) { return 1U << static_cast<unsigned>(dimension); }

 private:
  std::uint64_t trips(std::size_t loop, const WalkState& state) const;
  bool is_final(const WalkState& state, const IndexGroup& indices) const;
  bool stays(std::uint64_t trips) const;
  WalkState enter(const WalkState& state, std::size_t loop, std::uint64_t trips, const IndexGroup& indices) const;
  std::uint8_t ranks_inside(const WalkState& state, std::size_t loop, std::uint64_t trips, const IndexGroup& indices) const;

  const NestBlocks& blocks_;
  Axes axes_;
};

}  // namespace joulegrid
