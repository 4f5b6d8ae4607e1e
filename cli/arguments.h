#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/counter/find_counters.h"
#include "joulegrid/network/problem.h"
#include "joulegrid/report/energy_scale.h"
#include "joulegrid/report/movement_report.h"
#include "joulegrid/schedule/schedule.h"
#include "joulegrid/search/tile_sizes.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace joulegrid::cli {

/// The parts of "a,b,c"; an empty part stays one.
std::vector<std::string> split(std::string_view text, char separator);

/// "784,2500,10": sizes. Throws Error naming `option`.
std::vector<std::uint64_t> parse_sizes(std::string_view text, const std::string& option);

/// Decimal digits, at most 2^64 - 1.
std::uint64_t parse_count(std::string_view text, const std::string& option);

/// "I,J".
Tile parse_tile(std::string_view text, const std::string& option);

/// "full" or a size.
Batch parse_batch(std::string_view text, const std::string& option);

/// "30s", "500ms", "2min": more than zero.
std::chrono::nanoseconds parse_duration(std::string_view text, const std::string& option);

/// The same, where a number alone is seconds.
std::chrono::nanoseconds parse_seconds(std::string_view text, const std::string& option);

/// What belongs into a file.
struct NamedText {
  std::string file;
  std::string text;
};

/// Options that say where results go, and how.
struct OutputOptions {
  bool json = false;
  std::string file;

  void add_to(CLI::App& command);
  /// Throws where the file cannot be written; call it before the work.
  void check() const;
  /// The document to the file if one is named; the document (with --json) or the text to standard output; `others` to files
  /// of their own. The files appear only when everything has been written.
  void write(const std::string& document, const std::function<std::string(const TextStyle&)>& text,
             const std::vector<NamedText>& others = {}) const;
};

/// --joules-per-step.
struct ScaleOption {
  std::string joules_per_step;

  void add_to(CLI::App& command);
  EnergyScale scale() const;
};

/// The positional M K N.
struct GemmArguments {
  std::string m, k, n;

  void add_to(CLI::App& command);
  Gemm gemm() const;
};

/// --tile, --nest, --schedule: at most one of them.
struct GemmScheduleOptions {
  std::string tile, nest, schedule;

  void add_to(CLI::App& command);
  /// The schedule that an option gives, if one does.
  std::optional<Schedule> schedule_of(const Gemm& gemm) const;
};

/// --dims, --examples, --batch.
struct EpochArguments {
  std::string dims, examples, batch;

  void add_to(CLI::App& command, const std::string& batch_help = "rows per call, or full");
  Epoch epoch() const;
};

/// --candidates divisors|all.
struct CandidatesOption {
  std::string name;

  void add_to(CLI::App& command);
  Candidates candidates() const { return name == "all" ? Candidates::all : Candidates::divisors; }
};

/// --threads.
struct ThreadsOption {
  std::string count;

  /// `what` is done on them.
  CLI::Option* add_to(CLI::App& command, const std::string& what);
  /// All cores unless the option says otherwise.
  unsigned threads() const;
};

/// --nvml-library, --amdsmi-library, --powercap-root: where counters are looked for.
struct CounterPathOptions {
  std::string nvml, amdsmi, powercap;

  void add_to(CLI::App& command);
  /// What the options say, where they say nothing the environment.
  CounterOptions options() const;
};

/// The help text's example.
void example(CLI::App& command, const std::string& text);

}  // namespace joulegrid::cli
