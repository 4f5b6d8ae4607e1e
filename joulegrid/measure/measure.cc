#include "joulegrid/measure/measure.h"

#include "joulegrid/measure/live_instruments.h"

namespace joulegrid {

Measurement measure(const MeasurePlan& plan, const std::vector<std::unique_ptr<Stage>>& stages, EnergyCounter& counter,
                    const ProtocolOptions& options) {
  LiveInstruments instruments(counter);
  return evaluate(run_protocol(plan, stages, instruments, options));
}

}  // namespace joulegrid
