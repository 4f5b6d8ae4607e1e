#pragma once

#include <cstdint>

/// The part of libamd_smi.so that is used, as its header has it. Structures whose layout changed between releases are avoided.
namespace joulegrid::amdsmi_abi {

using Processor = void*;
using Socket = void*;

enum Code : std::uint32_t {
  success = 0,
  invalid = 1,
  not_supported = 2,
  not_yet_implemented = 3,
  fail_load_module = 4,
  fail_load_symbol = 5,
  no_permission = 10,
  not_found = 31,
  not_initialised = 32,
  driver_not_loaded = 34,
};

inline constexpr std::uint64_t init_gpus = 1U << 1U;
inline constexpr std::uint32_t temperature_edge = 0;
inline constexpr std::uint32_t temperature_hotspot = 1;
inline constexpr std::uint32_t temperature_current = 0;
inline constexpr unsigned uuid_bytes = 38;

using Init = std::uint32_t(std::uint64_t);                                                     // amdsmi_init
using ShutDown = std::uint32_t();                                                              // amdsmi_shut_down
using StatusToString = std::uint32_t(std::uint32_t, const char**);                             // amdsmi_status_code_to_string
using GetSockets = std::uint32_t(std::uint32_t*, Socket*);                                     // amdsmi_get_socket_handles
using GetProcessors = std::uint32_t(Socket, std::uint32_t*, Processor*);                       // amdsmi_get_processor_handles
using GetUuid = std::uint32_t(Processor, unsigned*, char*);                                    // amdsmi_get_gpu_device_uuid
using GetBdfId = std::uint32_t(Processor, std::uint64_t*);                                     // amdsmi_get_gpu_bdf_id
using GetEnergy = std::uint32_t(Processor, std::uint64_t*, float*, std::uint64_t*);            // amdsmi_get_energy_count
using GetTemperature = std::uint32_t(Processor, std::uint32_t, std::uint32_t, std::int64_t*);  // amdsmi_get_temp_metric: °C

}  // namespace joulegrid::amdsmi_abi
