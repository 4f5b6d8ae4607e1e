#pragma once

#include <filesystem>
#include <vector>

#include "joulegrid/counter/found_counter.h"

namespace joulegrid {

/// What the kernel's powercap tree tells of the machine's processors: `rapl:package`, and where there are such zones
/// `rapl:package+dram` and `rapl:psys`; each found, or the reason why not. `root` is the folder that somebody gave; empty,
/// /sys/class/powercap is looked at. Throws Error(unavailable) where a folder that was given does not exist. Counters use
/// `time`, which outlives them.
std::vector<FoundCounter> find_rapl(const std::filesystem::path& root, TimeSource& time);

}  // namespace joulegrid
