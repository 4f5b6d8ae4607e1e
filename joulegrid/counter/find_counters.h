#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "joulegrid/counter/found_counter.h"

namespace joulegrid {

/// Where to look for counters. Empty: where the system has them. A path that is given must exist.
struct CounterOptions {
  std::string nvml_library;
  std::string amdsmi_library;
  std::filesystem::path powercap_root;
  std::filesystem::path event_sources;

  /// JOULEGRID_NVML_LIBRARY, JOULEGRID_AMDSMI_LIBRARY and JOULEGRID_POWERCAP_ROOT of the environment.
  static CounterOptions from_environment();
};

/// Every counter of the machine that is known how to look for: nvml, amdsmi, rapl, perf, in this order; each there, or the
/// reason why not. At least one entry of each kind. Throws Error(unavailable) where a path of the options is not what it
/// should be. Counters use `time`, which outlives them.
std::vector<FoundCounter> find_counters(const CounterOptions& options, TimeSource& time = steady_time());

/// The counters that somebody names: "nvml", "nvml:GPU-…" (or the beginning of a UUID, or a PCI address), "rapl",
/// "rapl:package+dram", "perf:package", "amdsmi:0000:03:00.0", "replay:FILE", "none". Of these at least one is there.
///
/// Throws Error(bad_input) for a name that means nothing, an index, or an ambiguous UUID, Error(unavailable) with the reason
/// where none of the counters is there; where = "--counter".
std::vector<FoundCounter> find_counters_named(const std::string& name, const CounterOptions& options,
                                              TimeSource& time = steady_time());

/// The one that is meant: of nvml and amdsmi there must not be several, of rapl and perf it is the packages' if not said
/// otherwise. Throws as find_counters_named.
std::unique_ptr<EnergyCounter> open_counter(const std::string& name, const CounterOptions& options,
                                            TimeSource& time = steady_time());

}  // namespace joulegrid
