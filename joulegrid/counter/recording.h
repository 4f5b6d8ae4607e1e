#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "joulegrid/base/file.h"
#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// Writes what a counter gave as JSON lines (docs/formats.md), each at once. Its functions may be called by several threads.
class Recorder {
 public:
  /// `sink` outlives the recorder. Writes the first line, which says what the counter is.
  Recorder(ByteSink& sink, const CounterDescription& description);

  void reading(const Measured<Reading>& reading);
  void telemetry(const TelemetrySample& sample);

  /// A line of somebody else: one JSON object that has none of the keys reading, telemetry and end. Replay skips it.
  void other(std::string_view line);

  /// The last line; a recording without it is a truncated one.
  void end();

 private:
  void write(std::string line);

  std::mutex mutex_;
  ByteSink& sink_;
  std::uint64_t readings_ = 0;
  std::uint64_t samples_ = 0;
};

/// A counter that also records what another one gives.
class RecordingCounter final : public EnergyCounter {
 public:
  /// Both outlive it.
  RecordingCounter(EnergyCounter& counter, Recorder& recorder) : counter_(counter), recorder_(recorder) {}

  const CounterDescription& describe() const override { return counter_.describe(); }
  Measured<Reading> read() override;
  TelemetrySample telemetry() override;

 private:
  EnergyCounter& counter_;
  Recorder& recorder_;
};

/// A counter that gives what a recording holds: each reading and each sample once, in their order, with the instants and the
/// faults of then; afterwards FaultKind::recording_ended, or recording_truncated where the recording lacks its last line.
/// Its description is the recorded one with kind `replay`; a truncated recording is said to be one in the notes.
///
/// Throws Error(bad_input, where = "source:line") for a text that is no recording. Of the last line a part may be missing.
std::unique_ptr<EnergyCounter> replay(std::string_view text, const std::string& source);

/// The same of a file.
std::unique_ptr<EnergyCounter> replay_file(const std::filesystem::path& file);

}  // namespace joulegrid
