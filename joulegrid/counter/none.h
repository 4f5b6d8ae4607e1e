#pragma once

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// No counter: for timing only. Every reading is FaultKind::not_asked.
class NoneCounter final : public EnergyCounter {
 public:
  const CounterDescription& describe() const override { return description_; }
  Measured<Reading> read() override { return Fault{FaultKind::not_asked, "no energy counter was asked for"}; }

 private:
  CounterDescription description_{CounterKind::none, "none", CounterScope::nothing, {}, {}, {}, {}, {}, {}};
};

}  // namespace joulegrid
