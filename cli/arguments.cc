#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <list>
#include <thread>

#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/schedule/schedule_file.h"

namespace joulegrid::cli {

namespace {

[[noreturn]] void fail(const std::string& message, const std::string& option) {
  throw Error(ErrorCode::bad_input, message, option);
}

/// A positive finite number, and what follows it.
std::pair<double, std::string_view> parse_positive(std::string_view text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value > 0) || !std::isfinite(value)) {
    fail("expected a number above zero, found " + in_quotes(text), option);
  }
  return {value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::uint64_t> parse_sizes(std::string_view text, const std::string& option) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& part : split(text, ',')) sizes.push_back(parse_size(part, option));
  return sizes;
}

Tile parse_tile(std::string_view text, const std::string& option) {
  const std::vector<std::uint64_t> sizes = parse_sizes(text, option);
  if (sizes.size() != 2) fail("expected rows and columns like 8,4, found " + in_quotes(text), option);
  return {sizes[0], sizes[1]};
}

Batch parse_batch(std::string_view text, const std::string& option) {
  if (text == "full") return std::nullopt;
  return parse_size(text, option);
}

std::uint64_t parse_count(std::string_view text, const std::string& option) {
  const Wide value = parse_wide(text, option);
  if (value > std::numeric_limits<std::uint64_t>::max()) fail("at most 2^64 - 1 is possible, found " + in_quotes(text), option);
  return static_cast<std::uint64_t>(value);
}

std::chrono::nanoseconds parse_duration(std::string_view text, const std::string& option) {
  const auto [value, unit] = parse_positive(text, option);
  constexpr double longest = 1e8;  // seconds, some three years
  const double seconds = unit == "s"     ? value
                         : unit == "ms"  ? value * 1e-3
                         : unit == "min" ? value * 60
                         : unit == "h"   ? value * 3600
                                         : -1;
  if (seconds < 0) fail("expected a duration like 30s, 500ms, 2min or 1h, found " + in_quotes(text), option);
  if (seconds > longest) fail("the duration " + in_quotes(text) + " is too long", option);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

std::chrono::nanoseconds parse_seconds(std::string_view text, const std::string& option) {
  const bool unit = text.find_first_not_of("0123456789.") != std::string_view::npos;
  return parse_duration(unit ? std::string(text) : std::string(text) + "s", option);
}

void OutputOptions::add_to(CLI::App& command) {
  command.add_flag("--json", json, "print one JSON document and nothing else");
  command.add_option("--output", file, "write the JSON document to this file")->type_name("FILE");
}

void OutputOptions::check() const {
  if (file == "-") fail("--json prints the document", "--output");
  if (!file.empty()) require_writable(file);
}

void OutputOptions::write(const std::string& document, const std::function<std::string(const TextStyle&)>& text,
                          const std::vector<NamedText>& others) const {
  std::list<FileSink> files;
  for (const NamedText& other : others) files.emplace_back(other.file).write(other.text);
  if (!file.empty()) files.emplace_back(file).write(document);
  print(json ? document : text(output_style()));
  for (FileSink& written : files) written.commit();
}

void ScaleOption::add_to(CLI::App& command) {
  command.add_option("--joules-per-step", joules_per_step, "energy of one operand read per grid step, in joules (1e-15)")
      ->type_name("J");
}

EnergyScale ScaleOption::scale() const {
  EnergyScale scale;
  if (joules_per_step.empty()) return scale;
  const auto [value, rest] = parse_positive(joules_per_step, "--joules-per-step");
  if (!rest.empty() || value < EnergyScale::least_joules_per_step || value > EnergyScale::most_joules_per_step) {
    fail("expected joules from " + shortest(EnergyScale::least_joules_per_step) + " to " +
             shortest(EnergyScale::most_joules_per_step) + " like 1e-15, found " + in_quotes(joules_per_step),
         "--joules-per-step");
  }
  scale.joules_per_step = value;
  return scale;
}

void GemmArguments::add_to(CLI::App& command) {
  command.add_option("M", m, "rows of A and C")->required()->type_name("");
  command.add_option("K", k, "columns of A, rows of B")->required()->type_name("");
  command.add_option("N", n, "columns of B and C")->required()->type_name("");
}

Gemm GemmArguments::gemm() const { return {parse_size(m, "M"), parse_size(k, "K"), parse_size(n, "N")}; }

void GemmScheduleOptions::add_to(CLI::App& command) {
  CLI::Option* of_tile = command.add_option("--tile", tile, "rows and columns of a C tile; without it, the best divisor tile");
  CLI::Option* of_nest = command.add_option("--nest", nest, "a loop nest with buffers, like 'm2 n4 [C] k16 [B] m8 [A] n4'");
  CLI::Option* of_file = command.add_option("--schedule", schedule, "the schedule in this file, as `search --save` writes it");
  of_tile->type_name("I,J")->excludes(of_nest)->excludes(of_file);
  of_nest->type_name("NEST")->excludes(of_file);
  of_file->type_name("FILE");
}

std::optional<Schedule> GemmScheduleOptions::schedule_of(const Gemm& gemm) const {
  if (!schedule.empty()) return read_schedule(read_file(schedule), schedule, gemm);
  if (!nest.empty()) return EpochNests{{parse_nest(nest, "--nest", gemm)}};
  if (tile.empty()) return std::nullopt;
  const Tile given = parse_tile(tile, "--tile");
  require_fit(gemm, given, "--tile");
  return EpochTiles{{given}};
}

void EpochArguments::add_to(CLI::App& command, const std::string& batch_help) {
  command.add_option("--dims", dims, "widths of the network, input first: 784,2500,10")->required()->type_name("W,W,…");
  command.add_option("--examples", examples, "examples of the epoch")->required()->type_name("E");
  command.add_option("--batch", batch, batch_help)->required()->type_name("B");
}

Epoch EpochArguments::epoch() const {
  const std::vector<std::uint64_t> widths = parse_sizes(dims, "--dims");
  const std::uint64_t count = parse_size(examples, "--examples");
  return {widths, count, parse_batch(batch, "--batch").value_or(count)};
}

void CandidatesOption::add_to(CLI::App& command) {
  command.add_option("--candidates", name, "tile sizes to try: divisors of the dimension (the default), or all")
      ->check(CLI::IsMember({"divisors", "all"}))
      ->type_name("divisors|all");
}

CLI::Option* ThreadsOption::add_to(CLI::App& command, const std::string& what) {
  return command.add_option("--threads", count, "threads to " + what + " on (all cores)")->type_name("T");
}

unsigned ThreadsOption::threads() const {
  constexpr std::uint64_t most_threads = 1024;
  if (count.empty()) return std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t threads = parse_size(count, "--threads");
  if (threads > most_threads) fail("at most 1024 threads are possible", "--threads");
  return static_cast<unsigned>(threads);
}

void CounterPathOptions::add_to(CLI::App& command) {
  const auto add = [&](const char* name, std::string& path, const std::string& what, const char* variable) {
    return command.add_option(name, path, what + " (" + variable + " of the environment, or where the system has it)");
  };
  add("--nvml-library", nvml, "NVIDIA's libnvidia-ml.so.1", "JOULEGRID_NVML_LIBRARY")->type_name("PATH");
  add("--amdsmi-library", amdsmi, "AMD's libamd_smi.so", "JOULEGRID_AMDSMI_LIBRARY")->type_name("PATH");
  add("--powercap-root", powercap, "the kernel's powercap tree", "JOULEGRID_POWERCAP_ROOT")->type_name("DIR");
}

CounterOptions CounterPathOptions::options() const {
  CounterOptions options = CounterOptions::from_environment();
  if (!nvml.empty()) options.nvml_library = nvml;
  if (!amdsmi.empty()) options.amdsmi_library = amdsmi;
  if (!powercap.empty()) options.powercap_root = powercap;
  return options;
}

void example(CLI::App& command, const std::string& text) { command.footer("Example:\n  " + text); }

}  // namespace joulegrid::cli
