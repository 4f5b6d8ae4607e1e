#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "joulegrid/base/quantity.h"
#include "joulegrid/grid/overlay.h"

namespace joulegrid {

/// A run of an overlay at its addresses.
struct PackedRegion {
  std::string name;  ///< the overlay's, with the run's cells in brackets where the overlay has several runs: "sc[1..500]"
  Role role = Role::scratch;
  Wide cells = 0;
  Wide reads_per_cell = 0;
  Wide first_address = 0;
  Wide last_address = 0;
  GridSteps steps;          ///< reads_per_cell · (P(last_address) − P(first_address − 1))
  std::size_t overlay = 0;  ///< the overlay's index in the list that was packed
  Wide first_cell = 0;      ///< the first of the region's cells within the overlay, from 1
};

/// Where everything lies, and what reading it costs.
struct Packing {
  std::vector<PackedRegion> regions;   ///< by address; reads per cell never increase
  GridSteps steps;                     ///< the sum over all regions
  Reads charged_reads;                 ///< Σ reads_per_cell · cells
  std::vector<GridSteps> layer_steps;  ///< the part of `steps` that each layer's reads cost, by layer; sums to `steps`
};

/// Places all runs of all overlays at consecutive addresses from 1 on, in descending reads per cell (equal ones in the
/// order given). That is the cheapest placement of these runs, by the rearrangement inequality; docs/movement-model.md.
/// Throws Error(overflow) where a count does not fit 128 bits.
Packing pack(const std::vector<Overlay>& overlays);

}  // namespace joulegrid
