#include "joulegrid/measure/processor_time.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace joulegrid {

namespace {

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

Measured<std::uint64_t> busy_microseconds(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  std::istringstream words(line);
  std::string cpu;
  // proc(5): user and nice contain guest and guest_nice, iowait is idle time.
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
  if (!(words >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq) || cpu != "cpu") {
    return Fault{FaultKind::not_present, "the kernel does not tell how busy its processors are"};
  }
  const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
  if (ticks_per_second <= 0) return Fault{FaultKind::not_present, "the kernel does not tell how long its clock tick is"};
  return (user + nice + system + irq + softirq) * (1'000'000 / static_cast<std::uint64_t>(ticks_per_second));
}

Measured<std::uint64_t> own_microseconds() {
  std::uint64_t sum = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(whose, &usage) != 0) return Fault{FaultKind::source_error, "getrusage fails"};
    sum += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  }
  return sum;
}

}  // namespace joulegrid
