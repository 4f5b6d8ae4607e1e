#pragma once

#include <optional>

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// Watches that a counter without wraps only ever grows, and remembers for good when it did not, or when its device was
/// lost: what it shows afterwards has nothing to do with what it showed before.
class Continuity {
 public:
  /// The reading, or the fault that ended the counter's continuity. A value below the last one that the device may have used
  /// since then (at 100 kW) is a counter that began anew; any other is one that went backwards.
  Measured<Reading> accept(const Measured<Reading>& reading);

 private:
  std::optional<Reading> last_;
  std::optional<Fault> broken_;
};

/// Makes a Reading of what `energy_now` gives, with the instants around it.
template <typename EnergyNow>
Measured<Reading> timed_reading(TimeSource& time, const EnergyNow& energy_now) {
  const TimeSource::Instant before = time.now();
  const Measured<Microjoules> energy = energy_now();
  const TimeSource::Instant after = time.now();
  if (!energy) return energy.fault();
  return Reading{energy.value(), before + (after - before) / 2, after - before};
}

}  // namespace joulegrid
