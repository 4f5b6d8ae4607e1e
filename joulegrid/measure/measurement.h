#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulegrid/measure/protocol.h"
#include "joulegrid/measure/statistics.h"

namespace joulegrid {

/// What a reader should know before using a figure. Nothing is dropped because of a flag.
enum class FlagKind {
  power_capped,       ///< the device held its clocks down to stay within its power limit
  thermal,            ///< ... because of its temperature
  hardware_slowdown,  ///< ... for another reason of its hardware
  clock_drop,         ///< the clock fell during the work
  temperature_drift,  ///< trials of one stage were done at different temperatures
  idle_drift,         ///< idle power differs before and after the work, by more than the windows scatter
  still_settling,     ///< power was still falling when the work's window ended, so that some energy is missing
  foreign_process,    ///< somebody else computed on the device
  counter_mismatch,   ///< counter and integrated power differ
  outlier,            ///< a trial's energy or time is far from the others'
  short_trial,        ///< less work than 95 % of what was asked for
  work_failed,        ///< the work of a trial failed
  energy_missing,     ///< a trial has no energy
  trials_missing,     ///< the run ended early
};

/// The word for it in documents: "clock_drop".
const char* flag_name(FlagKind kind);

struct Flag {
  FlagKind kind{};
  std::string text;  ///< what was seen, in words and figures

  friend bool operator==(const Flag&, const Flag&) = default;
};

/// Energy between two readings.
struct WindowEnergy {
  TimeSource::Instant begin, end;
  Microjoules energy;

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
  double joules() const { return static_cast<double>(energy.count()) / 1e6; }
  double watts() const { return joules() / seconds(); }
};

/// The least and the most of something among the samples during the work; nothing where no sample had it.
struct Extremes {
  double least = 0;
  double most = 0;
};

/// What the samples say about the work of a trial.
struct TelemetryExtremes {
  std::uint64_t samples = 0;
  std::optional<Extremes> power_w, temperature_c, sm_clock_mhz, memory_clock_mhz;
  std::optional<ClockEvents> clock_events;  ///< all that occurred
};

/// A trial and what follows from it; energies are joules per repetition, idle power taken off or not.
struct TrialMeasurement {
  std::uint64_t number = 0;
  std::uint64_t position = 0;
  std::uint64_t repetitions = 0;
  std::optional<Fault> work_fault;
  TimeSource::Instant begin;  ///< of the work
  double seconds = 0;         ///< of the work, all repetitions
  Measured<WindowEnergy> idle_before, work_window, idle_after;
  Measured<double> raw_j;       ///< the counter's, less the idle power of the parts of the window outside the work
  Measured<double> idle_w;      ///< mean of the two idle windows
  Measured<double> adjusted_j;  ///< raw_j less the idle energy of the work's time
  TelemetryExtremes telemetry;
  std::vector<Flag> flags;
  std::string details;  ///< Stage::details
};

/// Half a 95 % interval and what it is made of.
struct Uncertainty95 {
  double expanded = 0;         ///< the half width
  double standard_trials = 0;  ///< standard uncertainty of the mean, from the scatter of the trials
  double standard_common = 0;  ///< of what all trials share
  double dof = 0;              ///< degrees of freedom of both together
};

/// A stage's results, per repetition, over its finished trials.
struct StageMeasurement {
  std::string name;
  std::optional<Fault> fault;     ///< there are no trials
  std::uint64_t repetitions = 0;  ///< sum over the trials that the figures are of
  std::uint64_t trials_wanted = 0;
  std::string first_details;  ///< Stage::details of the first batch of the warm-up
  Measured<double> seconds;
  Measured<double> seconds_stdev;  ///< between trials, n - 1
  Measured<Uncertainty95> seconds_95;
  Measured<double> raw_j;
  Measured<double> idle_w;              ///< mean of the idle windows
  Measured<double> adjusted_j;          ///< raw_j - idle_w * seconds
  Measured<Extremes> adjusted_range_j;  ///< with the largest and with the smallest idle window
  Measured<double> stdev_j;             ///< of the trials' adjusted energies, n - 1
  Measured<Uncertainty95> adjusted_95;
  double resolution_variance = 0;  ///< of a trial's adjusted energy, from the counter's steps at its edges; J^2
  std::vector<Flag> flags;         ///< of the stage, and the kinds of its trials' flags
  std::vector<TrialMeasurement> trials;
};

/// Two stages trial by trial, in the rounds that both finished.
struct Comparison {
  std::string first, second;
  std::uint64_t pairs = 0;

  /// second - first and second / first, with half the width of a 95 % interval of each.
  struct Figures {
    double difference = 0;
    double difference_95 = 0;
    double ratio = 0;
    double ratio_95 = 0;
  };
  Measured<Figures> seconds;
  Measured<Figures> adjusted_j;
};

/// The results of a run.
struct Measurement {
  MeasurePlan plan;
  CounterDescription counter;
  Measured<Tick> tick;  ///< its resolution is that of all readings together
  std::vector<StageMeasurement> stages;
  std::vector<TelemetrySample> samples;
  std::optional<Fault> ended_early;
};

/// Makes results of what was seen; docs/measuring.md has every formula.
Measurement evaluate(const ProtocolRun& run);

/// Compares two stages of a measurement by the differences of their trials of the same round.
Comparison compare(const StageMeasurement& first, const StageMeasurement& second);

}  // namespace joulegrid
