#include "joulegrid/bound/gemm_floor.h"

#include <algorithm>

#include "joulegrid/bound/block_envelope.h"
#include "joulegrid/bound/level_bounds.h"
#include "joulegrid/bound/projections.h"
#include "joulegrid/bound/radii.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

/// Blocks of `size` products as long as they last, with and without what is left over.
void add_blocks_of(BlockEnvelope& envelope, Wide products, Wide size) {
  const Wide blocks = products / size;
  const Wide rest = products % size;
  const Wide elements = checked_mul(blocks, least_projections(size));
  envelope.add({blocks, elements});
  if (rest > 0) envelope.add({blocks + 1, checked_add(elements, least_projections(rest))});
}

/// As many blocks, of equal sizes but for one product.
void add_equal_blocks(BlockEnvelope& envelope, Wide products, Wide blocks) {
  const Wide size = products / blocks;
  const Wide larger = products % blocks;
  envelope.add({blocks, checked_add(checked_mul(blocks - larger, least_projections(size)),
                                    checked_mul(larger, least_projections(size + 1)))});
}

/// Cuts of width·lines products along whole lines, for matrices of which one dimension is only `width`.
void add_thin_blocks(BlockEnvelope& envelope, std::uint64_t width, Wide lines) {
  constexpr std::uint64_t small_sizes = 1024;  // in lines
  for (Wide size = 1; size <= std::min<Wide>(small_sizes, lines); ++size) {
    const Wide rest = lines % size;
    const Wide elements = checked_mul(lines / size, least_projections(width, size));
    envelope.add({lines / size, elements});
    if (rest > 0) envelope.add({lines / size + 1, checked_add(elements, least_projections(width, rest))});
  }
  for (const Wide blocks : spread_counts(lines)) {
    const Wide larger = lines % blocks;
    envelope.add({blocks, checked_add(checked_mul(blocks - larger, least_projections(width, lines / blocks)),
                                      checked_mul(larger, least_projections(width, lines / blocks + 1)))});
  }
}

/// Every cut that is tried. Which ones depends on nothing but how many of them there are room for, and none of them falls as
/// the problem grows (docs/floor.md, Proposition 3).
BlockEnvelope all_cuts(const Gemm& gemm, const std::vector<RadiusRange>& ranges) {
  std::vector<Wide> fast_cells;
  for (const RadiusRange& range : ranges) fast_cells.push_back(range.cells());
  BlockEnvelope envelope(fast_cells);
  const Wide products = gemm.macs();
  for (Wide size = 1; size <= std::min<Wide>(exact_products, products); ++size) add_blocks_of(envelope, products, size);
  // The smallest blocks that touch 3S − 2 elements: these have the most slow reads per product, 2/√(S − 1).
  constexpr std::uint64_t cubes_fit = std::uint64_t{1} << 21;
  for (const RadiusRange& range : ranges) {
    if (range.last > cubes_fit) break;
    const Wide side = range.cells() - 1;
    const Wide size = isqrt(side * side * side) + 1;
    if (size >= products) break;
    add_blocks_of(envelope, products, size);
  }
  for (const Wide blocks : spread_counts(products)) add_equal_blocks(envelope, products, blocks);
  add_thin_blocks(envelope, gemm.m, checked_mul(gemm.k, gemm.n));
  add_thin_blocks(envelope, gemm.n, checked_mul(gemm.m, gemm.k));
  add_thin_blocks(envelope, gemm.k, checked_mul(gemm.m, gemm.n));
  return envelope;
}

/// Theorem 3: slow reads at `fast_cells`, and reads beyond those of Proposition 1, together.
Wide loads_and_copies(const Gemm& gemm, Wide fast_cells) {
  const Wide products = gemm.macs();
  const std::vector<std::uint64_t>& loads = least_loads();
  const Wide held = 2 * fast_cells;
  Wide most = 0;
  for (std::size_t size = 1; size <= std::min<Wide>(load_products, products); ++size) {
    const auto rest = static_cast<std::size_t>(products % size);
    most = std::max(most, checked_add(checked_mul(products / size, excess(loads[size], held)), excess(loads[rest], held)));
  }
  return excess(most, fast_cells);
}

}  // namespace

Floor gemm_floor(const Gemm& gemm) {
  const Wide inputs = checked_add(checked_mul(gemm.m, gemm.k), checked_mul(gemm.k, gemm.n));
  const Wide outputs = checked_mul(gemm.m, gemm.n);
  const Wide always = checked_mul(outputs, checked_mul(4, gemm.k) - 1);
  const std::vector<RadiusRange> ranges = radius_ranges(checked_add(inputs, outputs));
  const BlockEnvelope cuts = all_cuts(gemm, ranges);

  Floor floor;
  floor.theorem = FloorTheorem::product;
  floor.levels.push_back({0, 1, Reads(always), FloorTheorem::every_read});
  floor.steps = GridSteps(always);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const RadiusRange& range = ranges[i];
    const Wide fast = range.cells();
    const Wide first_reads = excess(inputs, fast) + excess(outputs, fast);
    const Wide blocks = excess(cuts.slow_reads(i), fast);
    const Wide slow = std::max(first_reads, blocks);
    if (slow == 0) break;
    floor.levels.push_back(
        {range.last, range.count(), Reads(slow), blocks > first_reads ? FloorTheorem::product : FloorTheorem::first_reads});
    floor.steps += GridSteps(checked_mul(range.count(), slow));
    if (range.last >= first_joint_radius && range.last <= last_joint_radius) {
      const Wide joint = excess(loads_and_copies(gemm, fast), slow);
      if (joint > floor.joint.reads.count()) floor.joint = {range.last, Reads(joint)};
    }
  }
  floor.steps += GridSteps(floor.joint.reads.count());
  return floor;
}

}  // namespace joulegrid
