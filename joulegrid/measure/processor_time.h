#pragma once

#include <cstdint>
#include <filesystem>

#include "joulegrid/counter/fault.h"

namespace joulegrid {

/// Microseconds that the machine's CPUs have spent on anything since it started, all together; a container sees those of the
/// whole machine. In steps of the kernel's clock tick, usually 10 ms. `file` is the kernel's statistics.
Measured<std::uint64_t> busy_microseconds(const std::filesystem::path& file = "/proc/stat");

/// Microseconds of processor time of this process and of the children that it has waited for.
Measured<std::uint64_t> own_microseconds();

}  // namespace joulegrid
