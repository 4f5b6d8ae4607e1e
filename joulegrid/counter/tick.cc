#include "joulegrid/counter/tick.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace joulegrid {

namespace {

constexpr std::size_t least_changes = 3;

}  // namespace

Microjoules common_step(Microjoules a, Microjoules b) {
  while (b.count() != 0) a = std::exchange(b, Microjoules(a.count() % b.count()));
  return a;
}

std::chrono::nanoseconds Tick::mean() const {
  return std::accumulate(intervals.begin(), intervals.end(), std::chrono::nanoseconds{}) /
         static_cast<std::int64_t>(intervals.size());
}

Measured<Tick> measure_tick(EnergyCounter& counter, TimeSource& time, const TickOptions& options) {
  return measure_tick([&] { return counter.read(); }, [&](std::chrono::nanoseconds pause) { time.sleep_for(pause); }, options);
}

Measured<Tick> measure_tick(const std::function<Measured<Reading>()>& read,
                            const std::function<void(std::chrono::nanoseconds)>& sleep_for, const TickOptions& options) {
  const Measured<Reading> first = read();
  if (!first) return first.fault();
  const TimeSource::Instant end = first.value().at + options.limit;
  Reading last = first.value();
  std::optional<TimeSource::Instant> last_change;
  Tick tick;
  std::size_t changes = 0;
  while (changes < options.enough_changes && last.at < end) {
    sleep_for(options.pause);
    const Measured<Reading> next = read();
    if (!next) return next.fault();
    const Reading& reading = next.value();
    tick.longest_look = std::max(tick.longest_look, std::chrono::nanoseconds(reading.at - last.at));
    if (reading.energy < last.energy) {
      return Fault{FaultKind::went_backwards, "the counter went from " + to_string(last.energy.count()) + " to " +
                                                  to_string(reading.energy.count()) + " µJ"};
    }
    if (reading.energy != last.energy) {
      const Microjoules change(checked_sub(reading.energy.count(), last.energy.count()));
      tick.resolution = common_step(change, tick.resolution);
      tick.smallest_change = changes == 0 ? change : std::min(tick.smallest_change, change);
      if (last_change) tick.intervals.emplace_back(reading.at - *last_change);
      last_change = reading.at;
      ++changes;
    }
    last = reading;
  }
  if (changes < least_changes) {
    const std::string within =
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(options.limit).count()) + " ms";
    if (changes == 0) return Fault{FaultKind::frozen, "the counter did not change within " + within};
    return Fault{FaultKind::too_few_changes, "the counter changed " + std::to_string(changes) +
                                                 (changes == 1 ? " time" : " times") + " within " + within +
                                                 ", which does not tell its tick"};
  }
  std::sort(tick.intervals.begin(), tick.intervals.end());
  return tick;
}

}  // namespace joulegrid
