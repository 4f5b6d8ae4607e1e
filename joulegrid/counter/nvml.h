#pragma once

#include <string>
#include <vector>

#include "joulegrid/counter/found_counter.h"

namespace joulegrid {

/// Every NVIDIA board that NVML tells of, or one entry that says why it tells of none. `library` is the path somebody gave;
/// empty, libnvidia-ml.so.1 is looked for. Throws Error(unavailable, where = `library`) where a path that was given does not
/// load. Counters use `time`, which outlives them.
std::vector<FoundCounter> find_nvml(const std::string& library, TimeSource& time);

}  // namespace joulegrid
