#pragma once

#include <memory>
#include <vector>

#include "joulegrid/measure/measurement.h"

namespace joulegrid {

/// Measures stages with a counter on this machine: run_protocol with the real clock, and what follows from it.
///
///     auto counter = joulegrid::open_counter("rapl", {});
///     std::vector<std::unique_ptr<joulegrid::Stage>> stages;
///     stages.push_back(joulegrid::make_stage("dot", [&] { sum = dot(a, b); }));
///     const joulegrid::Measurement result = joulegrid::measure({}, stages, *counter);
///     result.stages[0].adjusted_j  // Measured<double>: joules a call above idle, or why there is none
Measurement measure(const MeasurePlan& plan, const std::vector<std::unique_ptr<Stage>>& stages, EnergyCounter& counter,
                    const ProtocolOptions& options = {});

}  // namespace joulegrid
