#include "joulegrid/schedule/nest_layout.h"

#include <functional>
#include <map>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/cell_addresses.h"

namespace joulegrid {

namespace {

/// Reads of an array's cells, in cell order.
using ReadsByCell = std::vector<Wide>;

ReadsByCell by_cell(const CellReads& reads) {
  ReadsByCell cells;
  for_each_run(reads,
               [&](const Run& run) { cells.insert(cells.end(), static_cast<std::size_t>(run.cells), run.reads_per_cell); });
  return cells;
}

/// Addresses of the cells of arrays that share an overlay by rank: the most read cell of all of them together lies at the
/// overlay's first cell, and so on. Cells that nobody reads lie behind everything.
std::vector<AddressByCell> by_rank(const Packing& packing, std::size_t overlay, const std::vector<ReadsByCell>& arrays) {
  const CellAddresses at(packing, overlay);
  const std::uint64_t unread =
      packing.regions.empty() ? 1 : static_cast<std::uint64_t>(packing.regions.back().last_address) + 1;
  std::map<Wide, std::uint64_t, std::greater<>> next;  // by reads: how many cells have them, then the rank of the next one
  for (const ReadsByCell& cells : arrays) {
    for (const Wide reads : cells) ++next[reads];
  }
  std::uint64_t rank = 0;
  for (auto& [reads, count] : next) rank += std::exchange(count, rank);
  std::vector<AddressByCell> addresses;
  for (const ReadsByCell& cells : arrays) {
    AddressByCell& of_array = addresses.emplace_back();
    for (const Wide reads : cells) of_array.push_back(reads == 0 ? unread : at[next[reads]++]);
  }
  return addresses;
}

ReadsByCell scaled(ReadsByCell reads, Wide by) {
  for (Wide& of_cell : reads) of_cell = checked_mul(of_cell, by);
  return reads;
}

ReadsByCell sum(const ReadsByCell& a, const ReadsByCell& b) {
  ReadsByCell sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = checked_add(sum[i], b[i]);
  return sum;
}

}  // namespace

void NestAddresses::put(const NestArray& array, AddressByCell addresses) {
  std::vector<AddressByCell>& levels = levels_[static_cast<std::size_t>(array.operand)];
  if (levels.size() <= array.level) levels.resize(array.level + 1);
  levels[array.level] = std::move(addresses);
}

NestLayout::NestLayout(const Gemm& gemm, const Nest& nest) : packing_(pack(nest_overlays(gemm, nest))) {
  const NestReads reads = nest_reads(gemm, nest);
  tmp_ = by_rank(packing_, 0, {{reads.tmp}})[0][0];
  std::size_t overlay = 1;  // in the order of nest_overlays
  for (const NestArray& array : nest_arrays(nest)) {
    arrays_.put(array, by_rank(packing_, overlay++, {by_cell(reads.of(array))})[0]);
  }
}

std::uint64_t NestLayout::address(const NestCell& cell) const {
  if (cell.array == NestCell::Array::tmp) return tmp_;
  return arrays_.of(cell);
}

EpochNestLayout::Scratch EpochNestLayout::place_scratch(const Nest& nest, const NestReads& reads) const {
  std::vector<ReadsByCell> cells{{reads.tmp}};
  std::vector<NestArray> buffers = nest_arrays(nest);
  std::erase_if(buffers, [](const NestArray& array) { return array.level == 0; });
  for (const NestArray& buffer : buffers) cells.push_back(by_cell(reads.of(buffer)));
  std::vector<AddressByCell> placed = by_rank(packing_, EpochNestOverlays::scratch, cells);
  Scratch scratch{placed[0][0], {}};
  for (std::size_t i = 0; i < buffers.size(); ++i) scratch.buffers.put(buffers[i], std::move(placed[i + 1]));
  return scratch;
}

EpochNestLayout::EpochNestLayout(const Epoch& epoch, const EpochNests& nests)
    : layers_(epoch.layers()), packing_(pack(nest_overlays(epoch, nests))) {
  using Index = EpochNestOverlays;
  const std::vector<CallGroup>& groups = epoch.call_groups();
  std::vector<ReadsByCell> outputs;
  std::vector<ReadsByCell> weights(layers_);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto [rows, calls] = groups[group];
    scratch_.emplace_back();
    hidden_.emplace_back(1);  // there is no hidden array 0
    ReadsByCell merges;       // into the input of the next layer
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      const Nest& nest = nests[group][layer];
      const NestReads reads = nest_reads(epoch.gemm(rows, layer), nest);
      scratch_[group].push_back(place_scratch(nest, reads));
      const ReadsByCell fills = by_cell(reads.of({Operand::a, 0}));
      if (layer == 0) {
        images_.push_back(by_rank(packing_, Index::images(epoch, group), std::vector<ReadsByCell>(calls, fills)));
      } else {
        hidden_[group].push_back(by_rank(packing_, Index::hidden(layer), {sum(merges, fills)})[0]);
      }
      merges = by_cell(reads.of({Operand::c, 0}));
      if (layer + 1 == layers_) {
        outputs.insert(outputs.end(), calls, merges);
      } else {
        for (Wide& of_cell : merges) of_cell -= 1;  // no exit read
      }
      const ReadsByCell of_weights = scaled(by_cell(reads.of({Operand::b, 0})), calls);
      weights[layer] = group == 0 ? of_weights : sum(weights[layer], of_weights);
    }
  }
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    weights_.push_back(by_rank(packing_, Index::weight(layer), {weights[layer]})[0]);
  }
  const std::vector<AddressByCell> of_calls = by_rank(packing_, Index::output, outputs);
  auto of_call = of_calls.begin();
  for (const CallGroup& group : groups) {
    outputs_.emplace_back(of_call, of_call + static_cast<std::ptrdiff_t>(group.calls));
    of_call += static_cast<std::ptrdiff_t>(group.calls);
  }
}

std::uint64_t EpochNestLayout::address(std::size_t group, std::uint64_t call, std::size_t layer, const NestCell& cell) const {
  const Scratch& scratch = scratch_[group][layer];
  if (cell.array == NestCell::Array::tmp) return scratch.tmp;
  const auto operand = static_cast<Operand>(cell.array);
  if (cell.level > 0) return scratch.buffers.of(cell);
  switch (operand) {
    case Operand::a: return layer == 0 ? images_[group][call][cell.cell] : hidden_[group][layer][cell.cell];
    case Operand::b: return weights_[layer][cell.cell];
    case Operand::c: return layer + 1 == layers_ ? outputs_[group][call][cell.cell] : hidden_[group][layer + 1][cell.cell];
  }
  check(false, "unknown operand");
  return 0;
}

}  // namespace joulegrid
