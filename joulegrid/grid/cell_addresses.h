#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/grid/packing.h"

namespace joulegrid {

/// Where the cells of one overlay lie: its runs are apart where other overlays' runs are read more often than its own later
/// ones.
class CellAddresses {
 public:
  /// `overlay` is the overlay's index in the list that was packed. Throws Error(overflow) for an address past 64 bits.
  CellAddresses(const Packing& packing, std::size_t overlay);

  /// The address of the overlay's cell number `cell`, from 0; somebody must read that cell.
  std::uint64_t operator[](std::uint64_t cell) const {
    std::size_t run = 0;
    while (cell >= runs_[run].end) ++run;
    return runs_[run].offset + cell;
  }

 private:
  struct PlacedRun {
    std::uint64_t end;     ///< the cell behind the run
    std::uint64_t offset;  ///< address − cell, modulo 2^64
  };

  std::vector<PlacedRun> runs_;  // by cell
};

}  // namespace joulegrid
