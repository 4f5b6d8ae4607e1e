#pragma once

#include <memory>

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// A counter that was looked for: what is known of it, and the counter itself, or why there is none.
struct FoundCounter {
  CounterDescription description;
  Measured<std::unique_ptr<EnergyCounter>> counter;
};

}  // namespace joulegrid
