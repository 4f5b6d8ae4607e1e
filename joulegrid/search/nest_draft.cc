#include "joulegrid/search/nest_draft.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

/// Trips, outermost first, that multiply to `size` or more; `largest_factor` is the largest prime looked for.
std::vector<std::uint64_t> small_trips(std::uint64_t size, std::uint64_t largest_factor) {
  std::vector<std::uint64_t> trips;
  while (size > 1) {
    std::uint64_t factor = 2;
    while (factor <= largest_factor && size % factor != 0) ++factor;
    if (factor > largest_factor) factor = 2;
    trips.push_back(factor);
    size = ceil_div(size, factor);
  }
  return trips;
}

NestDraft without_marks(const Gemm& gemm, std::uint64_t largest_factor) {
  NestDraft draft;
  for (const Dimension dimension : all_dimensions) {
    Cuts& cuts = draft.of(dimension);
    cuts.size = size_of(gemm, dimension);
    for (const std::uint64_t trips : small_trips(cuts.size, largest_factor)) {
      cuts.trips[cuts.loops++] = trips;
      draft.order.insert(draft.order.loops, dimension);
    }
    draft.fit(dimension);
  }
  return draft;
}

}  // namespace

void Cuts::update() {
  double block = 1;
  for (std::size_t i = loops;; --i) {
    const double count = std::ceil(static_cast<double>(size) / block);
    blocks[i] = count;
    whole[i] = std::min(block, static_cast<double>(size));
    mean[i] = static_cast<double>(size) / count;
    if (i == 0) return;
    block *= static_cast<double>(trips[i - 1]);
  }
}

void LoopOrder::insert(std::size_t at, Dimension dimension) {
  check(loops < capacity && at <= loops, "room for another loop");
  std::copy_backward(dimensions.begin() + at, dimensions.begin() + loops, dimensions.begin() + loops + 1);
  std::copy_backward(marks.begin() + at + 1, marks.begin() + loops + 1, marks.begin() + loops + 2);
  dimensions[at] = static_cast<std::uint8_t>(dimension);
  marks[at + 1] = 0;
  ++loops;
}

void LoopOrder::erase(std::size_t at) {
  std::copy(dimensions.begin() + at + 1, dimensions.begin() + loops, dimensions.begin() + at);
  marks[at + 1] |= marks[at];
  std::copy(marks.begin() + at + 1, marks.begin() + loops + 1, marks.begin() + at);
  --loops;
  marks[0] = 0;  // there are the bulk arrays
}

std::size_t LoopOrder::find(Dimension dimension, std::size_t index) const {
  std::size_t at = 0;
  for (;; ++at) {
    check(at < loops, "the loop that is looked for");
    if (dimensions[at] == static_cast<std::uint8_t>(dimension) && index-- == 0) return at;
  }
}

NestDraft NestDraft::of_small_factors(const Gemm& gemm) { return without_marks(gemm, 7); }

NestDraft NestDraft::of_halves(const Gemm& gemm) { return without_marks(gemm, 0); }

NestDraft NestDraft::of(const Gemm& gemm, const Nest& nest) {
  NestDraft draft;
  draft.order.through = nest.through;
  draft.order.reflected = nest.reflected;
  for (const Dimension dimension : all_dimensions) draft.of(dimension).size = size_of(gemm, dimension);
  auto mark = nest.marks.begin();
  for (std::size_t depth = 0; depth <= nest.loops.size(); ++depth) {
    for (; mark != nest.marks.end() && mark->depth == depth; ++mark) {
      if (draft.order.loops == 0) continue;  // a block as large as the bulk array
      draft.order.marks[draft.order.loops] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(mark->operand));
    }
    if (depth == nest.loops.size() || nest.loops[depth].trips == 1) continue;
    Cuts& cuts = draft.of(nest.loops[depth].dimension);
    if (cuts.loops == Cuts::capacity) {
      throw Error(ErrorCode::bad_input, "more than " + std::to_string(Cuts::capacity) + " loops over one dimension", "nest");
    }
    cuts.trips[cuts.loops++] = nest.loops[depth].trips;
    draft.order.insert(draft.order.loops, nest.loops[depth].dimension);
  }
  for (const Dimension dimension : all_dimensions) draft.fit(dimension);
  return draft;
}

Nest NestDraft::nest() const {
  Nest nest;
  nest.through = order.through;
  nest.reflected = order.reflected;
  std::array<std::size_t, 3> next{};
  for (std::size_t at = 0; at < order.loops; ++at) {
    const std::size_t dimension = order.dimensions[at];
    nest.loops.push_back({all_dimensions[dimension], cuts[dimension].trips[next[dimension]++]});
    for (const Operand operand : all_operands) {
      const unsigned marks = order.marks[at + 1];
      if ((marks >> static_cast<unsigned>(operand) & 1U) != 0) nest.marks.push_back({at + 1, operand});
    }
  }
  if (nest.loops.empty()) nest.loops.push_back({Dimension::m, 1});
  return nest;
}

void NestDraft::fit(Dimension dimension) {
  Cuts& of_dimension = of(dimension);
  std::uint64_t inner = 1;  // what the loops inside the i-th cover
  std::size_t first = of_dimension.loops;
  while (first > 0 && inner < of_dimension.size) {
    --first;
    if (first > 0) {
      const Wide product = static_cast<Wide>(inner) * of_dimension.trips[first];
      if (product < of_dimension.size) {
        inner = static_cast<std::uint64_t>(product);
        continue;
      }
    }
    of_dimension.trips[first] = ceil_div(of_dimension.size, inner);
    break;
  }
  for (std::size_t surplus = 0; surplus < first; ++surplus) order.erase(order.find(dimension, 0));
  std::copy(of_dimension.trips.begin() + first, of_dimension.trips.begin() + of_dimension.loops, of_dimension.trips.begin());
  of_dimension.loops -= first;
  of_dimension.update();
}

}  // namespace joulegrid
