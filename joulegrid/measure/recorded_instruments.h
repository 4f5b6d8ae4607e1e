#pragma once

#include <cstddef>
#include <optional>

#include "joulegrid/counter/recording.h"
#include "joulegrid/measure/instruments.h"

namespace joulegrid {

/// Instruments that also record everything that others show: docs/formats.md.
class RecordingInstruments final : public Instruments {
 public:
  /// Both outlive it.
  RecordingInstruments(Instruments& instruments, Recorder& recorder) : instruments_(instruments), recorder_(recorder) {}

  const CounterDescription& counter() const override { return instruments_.counter(); }
  Measured<Reading> read() override;
  void sleep_for(std::chrono::nanoseconds duration) override { instruments_.sleep_for(duration); }
  Aggregate run(Stage& stage, std::uint64_t repetitions) override;
  void start_sampling(std::chrono::nanoseconds interval) override { instruments_.start_sampling(interval); }
  void stop_sampling() override { instruments_.stop_sampling(); }
  std::vector<TelemetrySample> take_samples() override;

  /// The run ended before its end, for this reason: a replay ends in the same place and for the same reason.
  void end_early(const Fault& why);

 private:
  Instruments& instruments_;
  Recorder& recorder_;
};

/// Instruments that show what a recording holds. Stages do nothing; what the recording has of them comes instead, and samples
/// come when they came then: those that stand before the next reading or run. At its end everything is what the recorded run
/// ended early for, or FaultKind::recording_ended or recording_truncated.
///
/// Throws Error(bad_input, where = "file:line") where the recording is of other stages or repetitions than are asked for.
class ReplayInstruments final : public Instruments {
 public:
  explicit ReplayInstruments(Recording recording);

  const CounterDescription& counter() const override { return recording_.counter; }
  Measured<Reading> read() override;
  void sleep_for(std::chrono::nanoseconds /*duration*/) override {}
  Aggregate run(Stage& stage, std::uint64_t repetitions) override;
  void start_sampling(std::chrono::nanoseconds /*interval*/) override {}
  void stop_sampling() override {}
  std::vector<TelemetrySample> take_samples() override;

 private:
  /// An aggregate as recorded.
  struct Run {
    std::string stage;
    std::uint64_t repetitions = 0;
    Aggregate aggregate;
    std::string where;
    std::uint64_t line = 0;
  };
  static Run parse_run(const Recording::Other& line);
  Fault ended(const std::string& what) const { return ended_early_ ? *ended_early_ : recording_.ended(what); }

  Recording recording_;
  std::vector<Run> runs_;
  std::optional<Fault> ended_early_;  ///< as recorded
  std::size_t next_reading_ = 0;
  std::size_t next_run_ = 0;
  std::size_t next_sample_ = 0;
};

}  // namespace joulegrid
