#include "joulegrid/workload/memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

constexpr Wide unknown = ~Wide{0};

/// The number that a file holds, if it holds one.
std::optional<Wide> number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

Wide available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    constexpr Wide kibi = 1024;
    std::uint64_t value = 0;
    if (word == "MemAvailable:" && file >> value) return value * kibi;
  }
  return unknown;
}

Wide available_in_group() {
  const auto most = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (!most || !used) return unknown;
  return *most > *used ? *most - *used : 0;
}

std::string gibibytes(Wide bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g GiB", static_cast<double>(bytes) * 0x1p-30);
  return text;
}

}  // namespace

Wide available_memory() { return std::min(available_on_machine(), available_in_group()); }

void require_memory(Wide bytes, const std::string& what) {
  const Wide available = available_memory();
  if (bytes <= available) return;
  throw Error(ErrorCode::unavailable,
              what + " needs " + gibibytes(bytes) + " of memory, of which " + gibibytes(available) + " are available");
}

}  // namespace joulegrid
