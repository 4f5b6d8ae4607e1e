#pragma once

#include <cstddef>
#include <cstdint>

/// The part of libnvidia-ml.so.1 that is used, as its header has it; the header is not installed everywhere. Every function
/// returns one of the codes below.
namespace joulegrid::nvml_abi {

struct OpaqueDevice;
using Device = OpaqueDevice*;

enum Code : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  library_not_found = 12,
  function_not_found = 13,
  gpu_is_lost = 15,
  reset_required = 16,
  lib_rm_version_mismatch = 18,
  unknown = 999,
};

inline constexpr unsigned sensor_gpu = 0;
inline constexpr unsigned clock_graphics = 0;
inline constexpr unsigned clock_sm = 1;
inline constexpr unsigned clock_memory = 2;
inline constexpr unsigned mig_enabled = 1;
inline constexpr unsigned field_power_instant = 186;
inline constexpr unsigned value_unsigned_int = 1;
inline constexpr std::size_t uuid_bytes = 96;
inline constexpr std::size_t name_bytes = 96;
inline constexpr std::size_t version_bytes = 80;

struct ProcessInfo {
  std::uint32_t pid;
  std::uint64_t used_memory;
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, used_memory) == 8);

union Value {
  double of_double;
  unsigned of_unsigned;
  unsigned long long of_unsigned_long_long;
};

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  unsigned value_type;
  int code;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device;
  unsigned pci_subsystem;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

using Init = int();                                             // nvmlInit_v2
using Shutdown = int();                                         // nvmlShutdown
using ErrorString = const char*(int);                           // nvmlErrorString
using SystemGetDriverVersion = int(char*, unsigned);            // nvmlSystemGetDriverVersion
using DeviceGetCount = int(unsigned*);                          // nvmlDeviceGetCount_v2
using DeviceGetHandleByIndex = int(unsigned, Device*);          // nvmlDeviceGetHandleByIndex_v2
using DeviceGetText = int(Device, char*, unsigned);             // nvmlDeviceGetName, nvmlDeviceGetUUID
using DeviceGetPciInfo = int(Device, PciInfo*);                 // nvmlDeviceGetPciInfo_v3
using DeviceGetMigMode = int(Device, unsigned*, unsigned*);     // nvmlDeviceGetMigMode: current, pending
using DeviceGetTotalEnergy = int(Device, unsigned long long*);  // nvmlDeviceGetTotalEnergyConsumption: mJ
using DeviceGetUnsigned = int(Device, unsigned*);               // …PowerUsage, …EnforcedPowerLimit: mW; …PersistenceMode
using DeviceGetOfKind = int(Device, unsigned, unsigned*);       // …Temperature: °C; …ClockInfo: MHz
using DeviceGetReasons = int(Device, unsigned long long*);      // …CurrentClocksEventReasons
using DeviceGetProcesses = int(Device, unsigned*, ProcessInfo*);  // …ComputeRunningProcesses_v3
using DeviceGetFieldValues = int(Device, int, FieldValue*);       // nvmlDeviceGetFieldValues

}  // namespace joulegrid::nvml_abi
