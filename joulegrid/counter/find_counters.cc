#include "joulegrid/counter/find_counters.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "joulegrid/base/quote.h"
#include "joulegrid/counter/amdsmi.h"
#include "joulegrid/counter/none.h"
#include "joulegrid/counter/nvml.h"
#include "joulegrid/counter/perf.h"
#include "joulegrid/counter/rapl.h"
#include "joulegrid/counter/recording.h"

namespace joulegrid {

namespace {

constexpr const char* option = "--counter";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<FoundCounter> find_kind(CounterKind kind, const CounterOptions& options, TimeSource& time) {
  switch (kind) {
    case CounterKind::nvml: return find_nvml(options.nvml_library, time);
    case CounterKind::amdsmi: return find_amdsmi(options.amdsmi_library, time);
    case CounterKind::rapl: return find_rapl(options.powercap_root, time);
    case CounterKind::perf:
      return find_perf(options.event_sources.empty() ? "/sys/bus/event_source/devices" : options.event_sources,
                       kernel_perf_events(), time);
    case CounterKind::replay:
    case CounterKind::none: break;
  }
  check(false, "only the machine's counters are looked for");
  return {};
}

constexpr std::array<CounterKind, 4> machine_kinds{CounterKind::nvml, CounterKind::amdsmi, CounterKind::rapl,
                                                   CounterKind::perf};

bool of_devices(CounterKind kind) { return kind == CounterKind::nvml || kind == CounterKind::amdsmi; }

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::bad_input, message, option); }

/// A name that can be a device's.
void require_device_name(const std::string& device) {
  if (device.starts_with("MIG-")) {
    throw Error(ErrorCode::unavailable,
                in_quotes(device, 80) + " is a part of a board, and a counter is the whole board's; switch MIG off to measure",
                option);
  }
  const bool number = std::all_of(device.begin(), device.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number) refuse("a device is named by its UUID or PCI address, not by an index like " + in_quotes(device));
}

bool names_counter(const std::string& part, const CounterDescription& description) {
  if (of_devices(description.kind)) return names_device(part, description.device);
  return description.name == std::string(kind_name(description.kind)) + ":" + part;
}

std::vector<FoundCounter> single(std::unique_ptr<EnergyCounter> counter) {
  std::vector<FoundCounter> found;
  CounterDescription description = counter->describe();
  found.push_back({std::move(description), std::move(counter)});
  return found;
}

}  // namespace

CounterOptions CounterOptions::from_environment() {
  CounterOptions options;
  options.nvml_library = variable("JOULEGRID_NVML_LIBRARY");
  options.amdsmi_library = variable("JOULEGRID_AMDSMI_LIBRARY");
  options.powercap_root = variable("JOULEGRID_POWERCAP_ROOT");
  return options;
}

std::vector<FoundCounter> find_counters(const CounterOptions& options, TimeSource& time) {
  std::vector<FoundCounter> found;
  for (const CounterKind kind : machine_kinds) {
    std::vector<FoundCounter> of_kind = find_kind(kind, options, time);
    std::move(of_kind.begin(), of_kind.end(), std::back_inserter(found));
  }
  return found;
}

std::vector<FoundCounter> find_counters_named(const std::string& name, const CounterOptions& options, TimeSource& time) {
  const std::size_t colon = name.find(':');
  const std::string kind_part = name.substr(0, colon);
  const std::optional<std::string> part = colon == std::string::npos ? std::nullopt : std::optional(name.substr(colon + 1));
  if (name == "none") return single(std::make_unique<NoneCounter>());
  if (kind_part == "replay") {
    if (!part || part->empty()) refuse("a recording is named like replay:FILE");
    return single(replay(read_recording_file(*part)));
  }
  const auto* const kind = std::find_if(machine_kinds.begin(), machine_kinds.end(),
                                        [&](CounterKind known) { return kind_part == kind_name(known); });
  if (kind == machine_kinds.end() || (part && part->empty())) {
    refuse("no counter is called " + in_quotes(name) + "; there are nvml, amdsmi, rapl, perf, replay:FILE and none");
  }
  if (part && of_devices(*kind)) require_device_name(*part);
  if (part && !of_devices(*kind) && *part != "package" && *part != "package+dram" && *part != "psys") {
    refuse("no counter is called " + in_quotes(name) + "; there are " + kind_part + ":package, " + kind_part +
           ":package+dram and " + kind_part + ":psys");
  }
  std::vector<FoundCounter> found = find_kind(*kind, options, time);
  if (part) {
    std::vector<FoundCounter> meant;
    std::copy_if(std::move_iterator(found.begin()), std::move_iterator(found.end()), std::back_inserter(meant),
                 [&](const FoundCounter& counter) { return names_counter(*part, counter.description); });
    if (of_devices(*kind) && meant.size() > 1)
      refuse(in_quotes(*part) + " begins the UUIDs of several devices; write more of it");
    if (meant.empty()) {
      // Nothing of that name; where there is nothing at all, the reason for that says more.
      const bool nothing = found.size() == 1 && !found.front().counter && found.front().description.device.uuid.empty();
      throw Error(ErrorCode::unavailable,
                  nothing ? found.front().counter.fault().reason : "there is no counter " + in_quotes(name, 80), option);
    }
    found = std::move(meant);
  }
  const bool any =
      std::any_of(found.begin(), found.end(), [](const FoundCounter& counter) { return counter.counter.has_value(); });
  if (!any) {
    throw Error(ErrorCode::unavailable, found.front().description.name + ": " + found.front().counter.fault().reason, option);
  }
  return found;
}

std::unique_ptr<EnergyCounter> open_counter(const std::string& name, const CounterOptions& options, TimeSource& time) {
  std::vector<FoundCounter> found = find_counters_named(name, options, time);
  if (of_devices(found.front().description.kind) && found.size() > 1) {
    std::string names;
    for (const FoundCounter& counter : found) names += (names.empty() ? "" : ", ") + counter.description.name;
    refuse("there are several, name one of " + names);
  }
  FoundCounter& meant = found.front();  // of several, the packages' stands first
  if (!meant.counter) {
    throw Error(ErrorCode::unavailable, meant.description.name + ": " + meant.counter.fault().reason, option);
  }
  return std::move(meant.counter.value());
}

}  // namespace joulegrid
