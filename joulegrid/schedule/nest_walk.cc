#include "joulegrid/schedule/nest_walk.h"

#include <map>

namespace joulegrid {

std::vector<IndexGroup> index_groups(std::uint64_t trips) {
  if (trips == 1) return {{IndexGroup::only, 0, 1}};
  std::vector<IndexGroup> groups{{IndexGroup::first, 0, 1}};
  const std::uint64_t odd = (trips - 1) / 2;  // of 1 … trips − 2
  if (odd > 0) groups.push_back({IndexGroup::odd, 1, odd});
  if (trips - 2 > odd) groups.push_back({IndexGroup::even, 0, trips - 2 - odd});
  groups.push_back({IndexGroup::last, static_cast<unsigned>((trips - 1) & 1U), 1});
  return groups;
}

Tally NestWalk::start() const {
  WalkState state;
  for (const Dimension dimension : all_dimensions) {
    if (blocks_.clipped(dimension)) state.last = static_cast<std::uint8_t>(state.last | bit(dimension));
  }
  return {{state, 1}};
}

std::uint64_t NestWalk::trips(std::size_t loop, const WalkState& state) const {
  const bool last = (state.last & bit(blocks_.nest().loops[loop].dimension)) != 0;
  return last ? blocks_.last_trips(loop) : blocks_.trips(loop);
}

Tally NestWalk::inside(const Tally& tally, std::size_t loop, const std::optional<IndexGroup::Kind>& group) const {
  std::map<WalkState, Wide> counts;
  const auto add = [&](const WalkState& state, Wide count) {
    if (count > 0) counts[state] = checked_add(counts[state], count);
  };
  const bool absent = blocks_.nest().loops[loop].dimension == axes_.absent;
  for (const auto& [state, count] : tally) {
    const std::uint64_t trips_here = trips(loop, state);
    for (const IndexGroup& indices : index_groups(trips_here)) {
      if (group && indices.kind != *group) continue;
      const WalkState child = enter(state, loop, trips_here, indices);
      const Wide ways = group ? 1 : indices.count;
      const bool final = is_final(state, indices);
      if (state.turning) {
        if (final && (absent || stays(trips_here))) add(child, count);
        continue;
      }
      add(child, checked_mul(count, ways));
      if (absent && !final) add({child.ranks, child.last, true}, checked_mul(count, ways));
    }
  }
  return {counts.begin(), counts.end()};
}

/// The loop ends its pass with this index.
bool NestWalk::is_final(const WalkState& state, const IndexGroup& indices) const {
  return blocks_.nest().reflected && state.backwards() ? indices.is_first() : indices.is_last();
}

/// A loop that ended its pass begins the next one with the same index.
bool NestWalk::stays(std::uint64_t trips) const { return blocks_.nest().reflected || trips == 1; }

WalkState NestWalk::enter(const WalkState& state, std::size_t loop, std::uint64_t trips, const IndexGroup& indices) const {
  const unsigned own = bit(blocks_.nest().loops[loop].dimension);
  WalkState child = state;
  if (!indices.is_last()) child.last = static_cast<std::uint8_t>(child.last & ~own);
  if (blocks_.nest().reflected) child.ranks = ranks_inside(state, loop, trips, indices);
  return child;
}

/// docs/loop-nests.md, "Counting visits", has this recurrence.
std::uint8_t NestWalk::ranks_inside(const WalkState& state, std::size_t loop, std::uint64_t trips,
                                    const IndexGroup& indices) const {
  const unsigned own = bit(blocks_.nest().loops[loop].dimension);
  const auto rank = [&](unsigned set) { return state.ranks >> set & 1U; };
  const auto whole = static_cast<unsigned>(blocks_.trips(loop) & 1U);
  const auto difference = whole ^ static_cast<unsigned>(blocks_.last_trips(loop) & 1U);
  const unsigned passed = state.backwards() ? static_cast<unsigned>((trips - 1) & 1U) ^ indices.parity : indices.parity;
  unsigned ranks = 0;
  for (unsigned set = 0; set < 8; ++set) {
    const bool member = (state.last & set) == set;  // this block counts for the set
    unsigned parity = 0;
    if ((set & own) == 0) {
      parity = (whole & rank(set)) ^ (difference & rank(set | own)) ^ (member ? passed : 0);
    } else {
      parity = rank(set) ^ static_cast<unsigned>(member && state.backwards() && !indices.is_last());
    }
    ranks |= parity << set;
  }
  return static_cast<std::uint8_t>(ranks);
}

}  // namespace joulegrid
