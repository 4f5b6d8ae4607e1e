#pragma once

#include <string>
#include <vector>

#include "joulegrid/counter/found_counter.h"

namespace joulegrid {

/// Every AMD board that amdsmi tells of, or one entry that says why it tells of none. `library` is the path somebody gave;
/// empty, libamd_smi.so is looked for. Throws Error(unavailable) where a path that was given does not load. Counters use
/// `time`, which outlives them.
std::vector<FoundCounter> find_amdsmi(const std::string& library, TimeSource& time);

}  // namespace joulegrid
