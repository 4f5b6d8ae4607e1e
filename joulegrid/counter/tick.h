#pragma once

#include <functional>
#include <vector>

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// How a counter moves, as far as it was watched.
struct Tick {
  std::vector<std::chrono::nanoseconds> intervals;  ///< between two changes that follow each other, ascending; never empty
  Microjoules resolution;                           ///< the largest step that all changes are multiples of
  Microjoules smallest_change;
  std::chrono::nanoseconds longest_look{};  ///< between two looks at it: every instant of a change is known only so well

  std::chrono::nanoseconds shortest() const { return intervals.front(); }
  std::chrono::nanoseconds median() const { return intervals[intervals.size() / 2]; }
  std::chrono::nanoseconds longest() const { return intervals.back(); }
  std::chrono::nanoseconds mean() const;
};

/// The largest step that both are multiples of; of 0 and b it is b.
Microjoules common_step(Microjoules a, Microjoules b);

struct TickOptions {
  std::chrono::nanoseconds limit = std::chrono::seconds(1);         ///< the time it may take
  std::chrono::nanoseconds pause = std::chrono::microseconds(200);  ///< between two looks
  std::size_t enough_changes = 64;                                  ///< end early after so many
};

/// Looks at the counter until it has changed often enough or the time is over, by the instants of its readings. Three changes
/// are the least that tell a tick: FaultKind::too_few_changes below, FaultKind::frozen where there is none, the counter's own
/// fault where it has one.
Measured<Tick> measure_tick(const std::function<Measured<Reading>()>& read,
                            const std::function<void(std::chrono::nanoseconds)>& sleep_for, const TickOptions& options = {});
Measured<Tick> measure_tick(EnergyCounter& counter, TimeSource& time, const TickOptions& options = {});

}  // namespace joulegrid
