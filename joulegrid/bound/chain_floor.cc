#include "joulegrid/bound/chain_floor.h"

#include <algorithm>
#include <vector>

#include "joulegrid/bound/level_bounds.h"
#include "joulegrid/bound/projections.h"
#include "joulegrid/bound/radii.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

constexpr int point = 30;  // bits behind the point of a Rate
constexpr Wide one = Wide{1} << point;

/// Slow reads per product, rounded down, from blocks that each need `loads` reads; the block that is left over gives none.
struct Rate {
  Wide per_product = 0;  ///< in units of 2^-point
  Wide loads = 0;        ///< lost at the end
};

Rate rate(Wide loads, Wide size) { return {loads * one / size, loads}; }

/// The rates tried at a radius: a choice that depends on the radius alone.
std::vector<Rate> block_rates(Wide fast_cells) {
  constexpr Wide searched = 144;  // the best block for more fast cells is past the exact table
  constexpr Wide cubes_fit = Wide{1} << 42;
  if (fast_cells > cubes_fit) return {};
  if (fast_cells <= searched) {
    Rate best;
    for (Wide size = 1; size <= exact_products; ++size) {
      const Rate of_size = rate(excess(least_projections(size), fast_cells), size);
      if (of_size.per_product > best.per_product) best = of_size;
    }
    return {best};
  }
  // The smallest blocks that touch more than so many elements: the first has the highest rate, smaller ones lose less at the
  // end.
  std::vector<Rate> rates;
  for (const Wide elements : {3 * (fast_cells - 1), 5 * fast_cells / 2, 2 * fast_cells}) {
    const Wide third = elements / 3;
    const Wide size = isqrt(third * third * third) + 1;
    rates.push_back(rate(least_projections(size) - fast_cells, size));
  }
  return rates;
}

/// The best rate of Theorem 3.
Rate load_rate(Wide fast_cells) {
  Rate best;
  const std::vector<std::uint64_t>& loads = least_loads();
  for (std::size_t size = 1; size <= load_products; ++size) {
    const Rate of_size = rate(excess(loads[size], 2 * fast_cells), size);
    if (of_size.per_product > best.per_product) best = of_size;
  }
  return best;
}

/// A number of either sign.
using Signed = __int128;

Signed to_signed(Wide value) {
  if ((value >> 127) != 0) throw_overflow();
  return static_cast<Signed>(value);
}

Signed sum(Signed a, Signed b) {
  Signed result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow();
  return result;
}

/// Slow reads of all products of those layers that together have the most, less `free_reads` for every hidden element that
/// they touch and min(S, outputs) where the last layer is among them.
///
/// Per row that is a best choice of levels 0 .. L to keep, a layer being kept with both of its levels; found level by level.
Wide most_slow_reads(const Epoch& epoch, const Rate& rate, Wide free_reads, Wide fast_cells) {
  const std::vector<std::uint64_t>& widths = epoch.widths();
  Signed kept = 0;     // the best sum so far with the present level kept, in units of 2^-point
  Signed dropped = 0;  // the same with it dropped
  for (std::size_t level = 1; level < widths.size(); ++level) {
    const bool hidden = level + 1 < widths.size();
    const Wide products = checked_mul(widths[level - 1], widths[level]);
    const Signed gain = to_signed(checked_mul(products, rate.per_product));
    const Signed price = hidden ? to_signed(checked_mul(checked_mul(widths[level], free_reads), one)) : 0;
    const Signed with_layer = sum(kept, gain);
    const Signed best_before = std::max(kept, dropped);
    kept = sum(std::max(with_layer, dropped), -price);
    dropped = best_before;
  }
  const Signed output_price = to_signed(checked_mul(widths.back(), one));
  const auto reads = [&](Signed per_row, Wide lost) {
    if (per_row <= 0) return Wide{0};
    return excess(checked_mul(epoch.examples(), static_cast<Wide>(per_row) >> point), lost);
  };
  const Signed without_price_of_fast = std::max(dropped, sum(kept, -output_price));
  return std::max(reads(kept, checked_add(rate.loads, fast_cells)), reads(without_price_of_fast, rate.loads));
}

}  // namespace

Floor chain_floor(const Epoch& epoch) {
  const std::vector<std::uint64_t>& widths = epoch.widths();
  const Wide outputs = checked_mul(epoch.examples(), widths.back());
  Wide inputs = checked_mul(epoch.examples(), widths.front());
  Wide always = outputs;  // the exit reads
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    inputs = checked_add(inputs, checked_mul(widths[layer], widths[layer + 1]));
    // A sum of k products: k multiplications and k − 1 additions of two operands each.
    const Wide sums = checked_mul(epoch.examples(), widths[layer + 1]);
    always = checked_add(always, checked_mul(sums, checked_mul(4, widths[layer]) - 2));
  }

  Floor floor;
  floor.theorem = FloorTheorem::chain;
  floor.levels.push_back({0, 1, Reads(always), FloorTheorem::every_read});
  floor.steps = GridSteps(always);
  for (const RadiusRange& range : radius_ranges(checked_add(inputs, outputs))) {
    const Wide fast = range.cells();
    const Wide first_reads = excess(inputs, fast) + excess(outputs, fast);
    Wide blocks = 0;
    for (const Rate& of_size : block_rates(fast)) blocks = std::max(blocks, most_slow_reads(epoch, of_size, 1, fast));
    const Wide slow = std::max(first_reads, blocks);
    if (slow == 0) break;
    floor.levels.push_back(
        {range.last, range.count(), Reads(slow), blocks > first_reads ? FloorTheorem::chain : FloorTheorem::first_reads});
    floor.steps += GridSteps(checked_mul(range.count(), slow));
    if (range.last >= first_joint_radius && range.last <= last_joint_radius) {
      const Wide joint = excess(most_slow_reads(epoch, load_rate(fast), 3, fast), slow);
      if (joint > floor.joint.reads.count()) floor.joint = {range.last, Reads(joint)};
    }
  }
  floor.steps += GridSteps(floor.joint.reads.count());
  return floor;
}

}  // namespace joulegrid
