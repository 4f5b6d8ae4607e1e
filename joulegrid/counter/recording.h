#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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

  /// A line of somebody else: one JSON object that has none of the keys reading, telemetry and end.
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

/// What a recording holds.
struct Recording {
  /// A line that the recorder was given as such.
  struct Other {
    std::string text;   ///< one JSON object
    std::string where;  ///< "file:line"
    std::uint64_t line = 0;
  };

  CounterDescription counter;  ///< as it was then, its kind included
  std::vector<Measured<Reading>> readings;
  std::vector<TelemetrySample> samples;
  std::vector<Other> others;
  std::vector<std::uint64_t> reading_lines;  ///< of each reading: they tell what was recorded before what
  std::vector<std::uint64_t> sample_lines;
  bool complete = false;  ///< it has its last line

  /// Why it has no further `what`.
  Fault ended(const std::string& what) const;
};

/// Throws Error(bad_input, where = "source:line") for a text that is no recording, such as one whose readings or samples go
/// back in time. The last line may be broken off.
Recording read_recording(std::string_view text, const std::string& source);
Recording read_recording_file(const std::filesystem::path& file);

/// A counter that gives what a recording holds: each reading and each sample once, in their order, with the instants and the
/// faults of then; afterwards FaultKind::recording_ended, or recording_truncated. Its description is the recorded one with
/// kind `replay`.
std::unique_ptr<EnergyCounter> replay(Recording recording);

}  // namespace joulegrid
