#pragma once

#include <vector>

#include "joulegrid/grid/overlay.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/nest_reads.h"

namespace joulegrid {

/// The nests of an epoch: one per call group and layer, in the epoch's order.
using EpochNests = std::vector<std::vector<Nest>>;

/// The arrays of an epoch in one address space; docs/loop-nests.md, "Networks". Scratch of all call groups and layers shares
/// cells by rank, the hidden arrays of odd and those of even number likewise; images, weights and outputs have cells of their
/// own. By index of the list that epoch_overlays returns:
struct EpochNestOverlays {
  static constexpr std::size_t scratch = 0;
  static constexpr std::size_t odd_hidden = 1;
  static constexpr std::size_t even_hidden = 2;
  static constexpr std::size_t output = 3;
  static constexpr std::size_t first_weight = 4;  ///< by layer, then the images by call group

  static constexpr std::size_t hidden(std::size_t array) { return array % 2 != 0 ? odd_hidden : even_hidden; }
  static constexpr std::size_t weight(std::size_t layer) { return first_weight + layer; }
  static std::size_t images(const Epoch& epoch, std::size_t group) { return first_weight + epoch.layers() + group; }
};

/// Throws Error(bad_input) where a nest does not cover its GEMM, Error(overflow).
std::vector<Overlay> nest_overlays(const Epoch& epoch, const EpochNests& nests);

}  // namespace joulegrid
