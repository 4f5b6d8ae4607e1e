#include "joulegrid/grid/packing.h"

#include <algorithm>

#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

/// A run on its way to its addresses: `first_cell` counts from 1 within its overlay.
struct PlacedRun {
  const Overlay* overlay;
  std::size_t index;  ///< of the overlay
  Wide first_cell;
  Run run;
  bool whole;  ///< the overlay has no other run
};

std::vector<PlacedRun> all_runs(const std::vector<Overlay>& overlays) {
  std::vector<PlacedRun> placed;
  for (std::size_t i = 0; i < overlays.size(); ++i) {
    const std::vector<Run> runs = runs_of(overlays[i].buffers);
    Wide first_cell = 1;
    for (const Run& run : runs) {
      if (run.reads_per_cell > 0) placed.push_back({&overlays[i], i, first_cell, run, runs.size() == 1});
      first_cell += run.cells;
    }
  }
  return placed;
}

std::string region_name(const PlacedRun& placed) {
  if (placed.whole) return placed.overlay->name;
  const Wide last_cell = placed.first_cell + placed.run.cells - 1;
  return placed.overlay->name + "[" + to_string(placed.first_cell) + ".." + to_string(last_cell) + "]";
}

}  // namespace

Packing pack(const std::vector<Overlay>& overlays) {
  std::vector<PlacedRun> placed = all_runs(overlays);
  std::stable_sort(placed.begin(), placed.end(),
                   [](const PlacedRun& a, const PlacedRun& b) { return a.run.reads_per_cell > b.run.reads_per_cell; });
  Packing packing;
  Wide end = 0;
  Wide sum_before = 0;
  for (const PlacedRun& p : placed) {
    const Wide first = end + 1;
    end = checked_add(end, p.run.cells);
    const Wide sum_after = distance_sum(end);
    const Wide distances = sum_after - sum_before;
    sum_before = sum_after;
    const GridSteps steps(checked_mul(p.run.reads_per_cell, distances));
    packing.regions.push_back(
        {region_name(p), p.overlay->role, p.run.cells, p.run.reads_per_cell, first, end, steps, p.index, p.first_cell});
    packing.steps += steps;
    packing.charged_reads += Reads(checked_mul(p.run.reads_per_cell, p.run.cells));
    for (const Buffer& buffer : p.overlay->buffers) {
      if (!buffer.covers(p.first_cell)) continue;  // a buffer covers a run wholly or not at all
      if (packing.layer_steps.size() <= buffer.layer) packing.layer_steps.resize(buffer.layer + 1);
      packing.layer_steps[buffer.layer] += GridSteps(checked_mul(buffer.reads_per_cell, distances));
    }
  }
  return packing;
}

}  // namespace joulegrid
