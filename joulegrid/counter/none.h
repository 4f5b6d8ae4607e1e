#pragma once

#include <utility>

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// No counter: for timing only. Every reading is the reason why.
class NoneCounter final : public EnergyCounter {
 public:
  explicit NoneCounter(Fault why = {FaultKind::not_asked, "no energy counter was asked for"}) : why_(std::move(why)) {}

  const CounterDescription& describe() const override { return description_; }
  Measured<Reading> read() override { return why_; }

 private:
  Fault why_;
  CounterDescription description_{CounterKind::none, "none", CounterScope::nothing, {}, {}, {}, {}, {}, {}};
};

}  // namespace joulegrid
