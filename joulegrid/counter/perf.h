#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "joulegrid/counter/found_counter.h"

namespace joulegrid {

/// The system calls of perf_event_open's counters; tests put others in their place.
class PerfEvents {
 public:
  virtual ~PerfEvents() = default;

  /// Opens the event for everything that runs on a CPU: a descriptor, or minus errno.
  virtual int open(std::uint32_t type, std::uint64_t config, int cpu) = 0;

  /// The count, or nothing where that fails.
  virtual std::optional<std::uint64_t> read(int descriptor) = 0;

  virtual void close(int descriptor) = 0;
};

/// The kernel's.
std::shared_ptr<PerfEvents> kernel_perf_events();

/// The energy counters of the performance monitoring unit `power`: `perf:package`, and where there are such events
/// `perf:package+dram` and `perf:psys`; each found, or the reason why not. `event_sources` is /sys/bus/event_source/devices.
/// Counters use `time`, which outlives them.
std::vector<FoundCounter> find_perf(const std::filesystem::path& event_sources, const std::shared_ptr<PerfEvents>& events,
                                    TimeSource& time);

}  // namespace joulegrid
