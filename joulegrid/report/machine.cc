#include "joulegrid/report/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

/// The value of the first "model name : …" of /proc/cpuinfo.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : printable(line.substr(begin));
  }
  return {};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Machine Machine::here() {
  Machine machine;
  machine.cpu_name = joulegrid::cpu_name();
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (cpus > 0) machine.logical_cpus = static_cast<unsigned>(cpus);
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  utsname names{};
  if (::uname(&names) == 0) {
    machine.operating_system = printable(std::string(names.sysname) + " " + names.release);
    machine.architecture = printable(names.machine);
  }
  return machine;
}

std::string hardware_json(const Machine& machine, const CounterDescription& counter, const TelemetrySample& sample) {
  constexpr double watts_per_milliwatt = 1e-3;
  const bool gpu = counter.scope == CounterScope::gpu_board;
  Json json;
  json["gpu_name"] = gpu ? text_or_null(counter.device.name) : Json(nullptr);
  json["gpu_uuid"] = gpu ? text_or_null(counter.device.uuid) : Json(nullptr);
  json["gpu_memory_bytes"] = nullptr;
  json["compute_capability"] = nullptr;
  json["power_limit_W"] =
      sample.power_limit_mw ? Json(static_cast<double>(sample.power_limit_mw.value()) * watts_per_milliwatt) : Json(nullptr);
  json["driver_version"] = text_or_null(counter.driver);
  json["cpu_name"] = text_or_null(machine.cpu_name);
  json["logical_cpus"] = machine.logical_cpus > 0 ? Json(machine.logical_cpus) : Json(nullptr);
  json["memory_bytes"] = machine.memory_bytes ? Json(*machine.memory_bytes) : Json(nullptr);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string host_json(const Machine& machine) {
  Json json;
  json["operating_system"] = text_or_null(machine.operating_system);
  json["architecture"] = text_or_null(machine.architecture);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace joulegrid
