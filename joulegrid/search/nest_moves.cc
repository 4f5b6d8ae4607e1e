#include "joulegrid/search/nest_moves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace joulegrid {

namespace {

constexpr std::size_t exponential_steps = 1024;

const std::array<double, exponential_steps>& exponential_table() {
  static const auto table = [] {
    std::array<double, exponential_steps> quantiles{};
    for (std::size_t i = 0; i < exponential_steps; ++i) {
      quantiles[i] = -std::log((static_cast<double>(i) + 0.5) / static_cast<double>(exponential_steps));
    }
    return quantiles;
  }();
  return table;
}

std::uint8_t random_mark(Random& random) { return static_cast<std::uint8_t>(1U << random.below(3)); }

/// Moves the loop at `from` so that it is at `to`; marks stay at their depths.
void move_loop(LoopOrder& order, std::size_t from, std::size_t to) {
  auto* loops = order.dimensions.data();
  if (from < to) {
    std::rotate(loops + from, loops + from + 1, loops + to + 1);
  } else {
    std::rotate(loops + to, loops + from, loops + from + 1);
  }
}

/// Exchanges two neighbours of different dimensions, if there are any.
void swap_neighbours(LoopOrder& order, Random& random) {
  const std::size_t start = random.below(order.loops - 1);
  for (std::size_t i = 0; i + 1 < order.loops; ++i) {
    const std::size_t at = (start + i) % (order.loops - 1);
    if (order.dimensions[at] == order.dimensions[at + 1]) continue;
    std::swap(order.dimensions[at], order.dimensions[at + 1]);
    return;
  }
}

/// Moves a mark, if there is one, to a depth of its own operand's that is free: a neighbouring one half of the time.
void move_mark(LoopOrder& order, Random& random) {
  const std::size_t start = random.below(order.loops);
  const std::uint8_t mark = random_mark(random);
  for (std::size_t i = 0; i < order.loops; ++i) {
    const std::size_t depth = 1 + (start + i) % order.loops;
    if ((order.marks[depth] & mark) == 0) continue;
    std::size_t to = 1 + random.below(order.loops);
    if (random.below(2) == 0)
      to = random.below(2) == 0 ? std::max<std::size_t>(depth - 1, 1) : std::min(depth + 1, order.loops);
    if ((order.marks[to] & mark) != 0) return;
    order.marks[depth] ^= mark;
    order.marks[to] ^= mark;
    return;
  }
}

/// Changes the trips of loops over one dimension, which has at least one loop.
void change_trips(NestDraft& draft, Dimension dimension, Random& random) {
  constexpr std::size_t most_trips = 8;
  Cuts& cuts = draft.of(dimension);
  const auto trips = cuts.trips.begin();
  const std::size_t i = random.below(cuts.loops);
  switch (random.below(4)) {
    case 0:  // exchange with the next one
      if (i + 1 < cuts.loops) std::swap(trips[i], trips[i + 1]);
      break;
    case 1:  // another count; the outermost loop takes up what is missing
      if (i > 0) trips[i] = 2 + random.below(most_trips - 1);
      break;
    case 2: {  // split in two
      if (trips[i] < 4 || cuts.loops == Cuts::capacity) break;
      const std::uint64_t outer = 2 + random.below(std::min<std::uint64_t>(trips[i] / 2, most_trips) - 1);
      std::copy_backward(trips + i + 1, trips + cuts.loops, trips + cuts.loops + 1);
      trips[i + 1] = ceil_div(trips[i], outer);
      trips[i] = outer;
      ++cuts.loops;
      draft.order.insert(draft.order.find(dimension, i) + 1, dimension);
      break;
    }
    default:  // join with the next one
      if (i + 1 == cuts.loops || trips[i] * trips[i + 1] > most_trips) break;
      trips[i] *= trips[i + 1];
      std::copy(trips + i + 2, trips + cuts.loops, trips + i + 1);
      --cuts.loops;
      draft.order.erase(draft.order.find(dimension, i + random.below(2)));
      break;
  }
  draft.fit(dimension);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t sequence) {
  std::seed_seq words{seed, seed >> 32, sequence, sequence >> 32};
  engine_.seed(words);
}

double Random::exponential() { return exponential_table()[engine_() >> 54]; }

void shuffle(NestDraft& draft, Random& random) {
  LoopOrder& order = draft.order;
  for (std::size_t i = order.loops; i > 1; --i) std::swap(order.dimensions[i - 1], order.dimensions[random.below(i)]);
  for (std::size_t depth = 1; depth <= order.loops; ++depth) {
    order.marks[depth] = static_cast<std::uint8_t>(random.below(4) == 0 ? random.below(8) : 0);
  }
}

bool change(NestDraft& draft, Random& random) {
  LoopOrder& order = draft.order;
  if (order.loops < 2) {
    if (order.loops == 1) order.marks[1] ^= random_mark(random);
    return false;
  }
  const std::size_t kind = random.below(64);
  if (kind < 18) {
    swap_neighbours(order, random);
  } else if (kind < 36) {
    const std::size_t from = random.below(order.loops);
    move_loop(order, from, random.below(order.loops));
  } else if (kind < 47) {
    order.marks[1 + random.below(order.loops)] ^= random_mark(random);
  } else if (kind < 58) {
    move_mark(order, random);
  } else if (kind < 63) {
    const auto dimension = all_dimensions[order.dimensions[random.below(order.loops)]];
    change_trips(draft, dimension, random);
    return true;
  } else {
    (random.below(2) == 0 ? order.through : order.reflected) ^= true;
  }
  return false;
}

}  // namespace joulegrid
