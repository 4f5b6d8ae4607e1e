#pragma once

#include <cstddef>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// One way to cut a program's products into blocks: every block but its share of the S fast cells must be loaded, so the
/// program has at least `elements − blocks·S` slow reads (docs/floor.md, Theorem 1).
struct Cut {
  Wide blocks = 0;
  Wide elements = 0;  ///< touched at least, summed over the blocks

  /// elements − blocks·S, or 0 where that is negative.
  Wide slow_reads(Wide fast_cells) const;
};

/// The best of many cuts for each of a list of ascending numbers of fast cells.
class BlockEnvelope {
 public:
  explicit BlockEnvelope(std::vector<Wide> fast_cells);

  void add(const Cut& cut);

  /// The largest slow_reads of all added cuts at the list's entry `index`.
  Wide slow_reads(std::size_t index) const;

 private:
  std::vector<Wide> fast_cells_;
  std::vector<Cut> tree_;  // a Li Chao tree: of two lines one is better left of the middle, or the other one
};

}  // namespace joulegrid
