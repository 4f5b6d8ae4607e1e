#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joulegrid/counter/energy_counter.h"
#include "joulegrid/measure/stage.h"

namespace joulegrid {

/// Repetitions that were done in one go, synchronised only at their ends.
struct Aggregate {
  TimeSource::Instant begin;
  TimeSource::Instant end;
  std::optional<Fault> fault;  ///< the work failed
  std::string details;         ///< Stage::details

  std::chrono::nanoseconds duration() const { return end - begin; }

  friend bool operator==(const Aggregate&, const Aggregate&) = default;
};

/// Whether there is no sense in going on: somebody stopped the run, or the recording has no more.
inline bool ends_a_run(const Fault& fault) {
  return fault.kind == FaultKind::interrupted || fault.kind == FaultKind::recording_ended ||
         fault.kind == FaultKind::recording_truncated;
}

/// Everything about the world that the measuring protocol sees. What it does depends on nothing else, so that a simulated
/// device can stand in for the machine, and a recording for both.
class Instruments {
 public:
  virtual ~Instruments() = default;

  virtual const CounterDescription& counter() const = 0;

  /// The counter's energy now.
  virtual Measured<Reading> read() = 0;

  virtual void sleep_for(std::chrono::nanoseconds duration) = 0;

  /// Does so many repetitions.
  virtual Aggregate run(Stage& stage, std::uint64_t repetitions) = 0;

  /// From now on a sample is taken every so often, beside whatever else is done, until stop_sampling.
  virtual void start_sampling(std::chrono::nanoseconds interval) = 0;
  virtual void stop_sampling() = 0;

  /// The samples since the last call, in the order of time.
  virtual std::vector<TelemetrySample> take_samples() = 0;
};

}  // namespace joulegrid
