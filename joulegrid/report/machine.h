#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "joulegrid/counter/energy_counter.h"

namespace joulegrid {

/// The machine that measures, as far as it tells; an empty text is not known.
struct Machine {
  std::string cpu_name;
  unsigned logical_cpus = 0;  ///< that are online
  std::optional<std::uint64_t> memory_bytes;
  std::string operating_system;  ///< "Linux 6.1.0"
  std::string architecture;      ///< "x86_64"

  static Machine here();
};

/// `hardware` and `host` of an energy document, as JSON objects: what is known of the machine and of the counter's device, the
/// rest null.
std::string hardware_json(const Machine& machine, const CounterDescription& counter, const TelemetrySample& sample);
std::string host_json(const Machine& machine);

}  // namespace joulegrid
