#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/counter/tick.h"
#include "joulegrid/measure/instruments.h"

namespace joulegrid {

/// How stages are measured; docs/measuring.md.
struct MeasurePlan {
  std::uint64_t trials = 5;                                       ///< of each stage
  std::chrono::nanoseconds trial_time = std::chrono::seconds(5);  ///< at least so much work in a trial
  std::chrono::nanoseconds idle_time = std::chrono::seconds(5);   ///< of each idle window
  std::chrono::nanoseconds settle_time =
      std::chrono::milliseconds(500);                               ///< for power to fall after work, before a window ends
  std::chrono::nanoseconds warm_up_time = std::chrono::seconds(1);  ///< at least so much work before anything is measured
  std::uint64_t warm_up_repetitions = 1;                            ///< at least so many
  std::chrono::nanoseconds sampling_interval = std::chrono::milliseconds(100);  ///< between two samples of telemetry
  bool work_in_processes = false;  ///< stages start processes of their own, which are nobody else's
  std::uint64_t seed = 1;          ///< of the order of stages within the rounds of trials

  friend bool operator==(const MeasurePlan&, const MeasurePlan&) = default;
};

/// One trial: an idle window, the work, an idle window, bounded by four readings at changes of the counter. Without a counter
/// the readings say why and there are no windows.
struct Trial {
  std::uint64_t number = 0;    ///< of its stage, from 1
  std::uint64_t position = 0;  ///< among all trials, from 1
  std::uint64_t repetitions = 0;
  std::array<Measured<Reading>, 4> edges;
  Aggregate work;  ///< lies between the second and the third edge
};

/// The trials of a stage, as far as they are finished.
struct StageTrials {
  std::string name;
  std::uint64_t repetitions = 0;  ///< of each trial, found by calibration; 0 before it
  std::optional<Fault> fault;     ///< its warm-up failed, so there are no trials
  std::string first_details;      ///< Stage::details of the warm-up's first batch
  std::vector<Trial> trials;
};

/// Everything that was seen: measurement.h makes results of it.
struct ProtocolRun {
  MeasurePlan plan;
  CounterDescription counter;
  Measured<Tick> tick;
  std::vector<StageTrials> stages;
  std::vector<TelemetrySample> samples;
  std::optional<Fault> ended_early;  ///< interrupted, or the end of a recording: trials are missing
};

/// Where the run is.
struct ProtocolProgress {
  enum class Phase { tick, warm_up, idle, work };
  Phase phase = Phase::tick;
  std::string stage;
  std::uint64_t position = 0;       ///< of the trial, from 1; 0 before the first
  std::uint64_t trials = 0;         ///< of all stages
  std::chrono::nanoseconds left{};  ///< expected, from now on
};

struct ProtocolOptions {
  const Stop* stop = nullptr;
  std::function<void(const ProtocolProgress&)> progress;
  std::function<void(const ProtocolRun&)> after_trial;  ///< between two trials, when nothing is measured
};

/// Measures the stages: finds the counter's tick, warms each stage up and calibrates its repetitions, then does rounds of
/// trials, one of each stage in an order drawn from the seed.
///
/// Throws Error(bad_input) for a plan without trials, stages without or with the same names, or windows shorter than five
/// ticks. A stop ends the run with what is finished.
ProtocolRun run_protocol(const MeasurePlan& plan, const std::vector<std::unique_ptr<Stage>>& stages, Instruments& instruments,
                         const ProtocolOptions& options = {});

}  // namespace joulegrid
