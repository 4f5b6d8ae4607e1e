#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "joulegrid/base/wide.h"
#include "joulegrid/counter/fault.h"

namespace joulegrid {

/// What a file of sysfs or procfs says, without the final newline. Faults: not_present, no_permission, malformed (more than
/// 4096 bytes), source_error.
Measured<std::string> read_small_file(const std::filesystem::path& path);

/// The file's one number: decimal digits, at most 64 bits. FaultKind::malformed for anything else, a sign or nothing included.
Measured<std::uint64_t> read_number_file(const std::filesystem::path& path);

}  // namespace joulegrid
