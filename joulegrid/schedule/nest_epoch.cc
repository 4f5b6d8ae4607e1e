#include "joulegrid/schedule/nest_epoch.h"

#include <functional>
#include <map>
#include <utility>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

/// Cells by total reads, most read first, and for each how many of the reads each layer does.
using LayerReads = std::vector<std::pair<std::size_t, Wide>>;  // layer and reads
using RankedCells = std::multimap<Wide, std::pair<Wide, LayerReads>, std::greater<>>;

std::vector<Buffer> by_rank(const RankedCells& ranked) {
  std::vector<Buffer> buffers;
  Wide first = 1;
  for (const auto& [reads, run] : ranked) {
    const auto& [cells, layers] = run;
    for (const auto& [layer, of_layer] : layers) {
      if (of_layer > 0) buffers.push_back({cells, of_layer, layer, first});
    }
    first = checked_add(first, cells);
  }
  return buffers;
}

void add(Overlay& overlay, const std::vector<Buffer>& buffers) {
  overlay.buffers.insert(overlay.buffers.end(), buffers.begin(), buffers.end());
}

/// A bulk array is one block.
const ReadPattern& bulk(const NestReads& reads, Operand operand) { return reads.of({operand, 0})[0]; }

std::vector<Run> scratch_profile(const Nest& nest, const NestReads& reads) {
  std::map<Wide, Wide, std::greater<>> cells;  // by reads
  if (reads.tmp > 0) cells[reads.tmp] += 1;
  for (const NestArray& array : nest_arrays(nest)) {
    if (array.level == 0) continue;
    for (const Run& run : profile(reads.of(array))) cells[run.reads_per_cell] += run.cells;
  }
  std::vector<Run> runs;
  for (const auto& [reads_per_cell, count] : cells) runs.push_back({count, reads_per_cell});
  return runs;
}

/// A hidden array gets the merges of the layer before it and the fills of the layer after it, but no exit reads.
std::vector<Buffer> hidden_array(const NestReads& before, const NestReads& after, Wide calls, std::size_t layer_after) {
  RankedCells ranked;
  for (const JointRun& run : joint_runs({&bulk(before, Operand::c), &bulk(after, Operand::a)})) {
    const Wide merges = checked_mul(calls, checked_sub(run.reads[0], 1));
    const Wide fills = checked_mul(calls, run.reads[1]);
    ranked.insert({checked_add(merges, fills), {run.cells, {{layer_after - 1, merges}, {layer_after, fills}}}});
  }
  return by_rank(ranked);
}

/// A layer's weights are read by all call groups.
std::vector<Buffer> weights(const Epoch& epoch, const std::vector<std::vector<NestReads>>& reads, std::size_t layer) {
  std::vector<const ReadPattern*> patterns;
  for (const std::vector<NestReads>& of_group : reads) patterns.push_back(&bulk(of_group[layer], Operand::b));
  RankedCells ranked;
  for (const JointRun& run : joint_runs(patterns)) {
    Wide total = 0;
    for (std::size_t group = 0; group < patterns.size(); ++group) {
      total = checked_add(total, checked_mul(epoch.call_groups()[group].calls, run.reads[group]));
    }
    ranked.insert({total, {run.cells, {{layer, total}}}});
  }
  return by_rank(ranked);
}

/// Every call has cells of its own for these.
std::vector<Run> of_all_calls(const CellReads& reads, Wide calls) {
  std::vector<Run> runs = profile(reads);
  for (Run& run : runs) run.cells = checked_mul(run.cells, calls);
  return runs;
}

}  // namespace

std::vector<Overlay> nest_overlays(const Epoch& epoch, const EpochNests& nests) {
  const std::vector<CallGroup>& groups = epoch.call_groups();
  check(nests.size() == groups.size(), "one list of nests per call group");
  std::vector<std::vector<NestReads>> reads;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    check(nests[group].size() == epoch.layers(), "one nest per layer");
    std::vector<NestReads>& of_group = reads.emplace_back();
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      of_group.push_back(nest_reads(epoch.gemm(groups[group].rows, layer), nests[group][layer]));
    }
  }

  using Index = EpochNestOverlays;
  std::vector<Overlay> overlays(Index::images(epoch, groups.size()));
  overlays[Index::scratch] = {"scratch", Role::scratch, {}};
  overlays[Index::odd_hidden] = {"odd activations", Role::activation, {}};
  overlays[Index::even_hidden] = {"even activations", Role::activation, {}};
  RankedCells outputs;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const Wide calls = groups[group].calls;
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      add(overlays[Index::scratch], stacked(scratch_profile(nests[group][layer], reads[group][layer]), calls, layer));
      if (layer == 0) continue;
      add(overlays[Index::hidden(layer)], hidden_array(reads[group][layer - 1], reads[group][layer], calls, layer));
    }
    const std::string name = groups.size() == 1 ? "input" : "input, calls of " + to_string(groups[group].rows);
    overlays[Index::images(epoch, group)] = {name, Role::input,
                                             stacked(of_all_calls(reads[group][0].of({Operand::a, 0}), calls))};
    const std::size_t last = epoch.layers() - 1;
    for (const Run& run : of_all_calls(reads[group][last].of({Operand::c, 0}), calls)) {
      outputs.insert({run.reads_per_cell, {run.cells, {{last, run.reads_per_cell}}}});
    }
  }
  overlays[Index::output] = {"output", Role::output, by_rank(outputs)};
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    overlays[Index::weight(layer)] = {"weight " + to_string(layer), Role::weight, weights(epoch, reads, layer)};
  }
  return overlays;
}

}  // namespace joulegrid
