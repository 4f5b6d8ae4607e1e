#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace joulegrid {

/// Which tile sizes a search looks at.
enum class Candidates {
  divisors,  ///< sizes that divide their dimension
  all,       ///< every size from 1 to the dimension
};

/// The sizes of tiles of a dimension that a search must look at, ascending.
///
/// With Candidates::all these are only the sizes ceil(n/c), c = 1..n, some 2·sqrt(n) of them: of all sizes that cut n into
/// c tiles the smallest is never dearer than another (docs/search.md, "Equal counts"), and it is the one that the search's
/// tie rule prefers. They are computed when asked for, so that a large dimension takes no memory.
class TileSizes {
 public:
  TileSizes(std::uint64_t dimension, Candidates candidates);

  std::size_t count() const { return consecutive_ + listed(); }

  /// The index-th smallest, index < count().
  std::uint64_t operator[](std::size_t index) const;

 private:
  std::size_t listed() const { return divisors_.empty() ? few_tiles_ : divisors_.size(); }

  std::uint64_t dimension_;
  std::uint64_t consecutive_ = 0;        // Candidates::all: 1, 2, …, consecutive_ are all looked at,
  std::uint64_t few_tiles_ = 0;          // then ceil(n/c) for c = few_tiles_ down to 1
  std::vector<std::uint64_t> divisors_;  // Candidates::divisors
};

}  // namespace joulegrid
