// A double of libnvidia-ml.so.1, opened by path as the real one is; what it says is in the file that JOULEGRID_NVML_DOUBLE
// names (profile.h). Built once more as libraries that lack functions: WITHOUT_ENERGY, and OLD for one from before the newer
// functions.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "joulegrid/counter/doubles/profile.h"
#include "joulegrid/counter/nvml_abi.h"

namespace abi = joulegrid::nvml_abi;

namespace {

Profile profile;
int users = 0;

Card* card_of(abi::Device device) {
  const auto is_it = [&](Card& card) { return reinterpret_cast<abi::Device>(&card) == device; };
  const auto card = std::find_if(profile.cards.begin(), profile.cards.end(), is_it);
  return users > 0 && card != profile.cards.end() ? &*card : nullptr;
}

int put_text(const std::string& text, char* into, unsigned length) {
  if (text.size() + 1 > length) return abi::insufficient_size;
  std::memcpy(into, text.c_str(), text.size() + 1);
  return abi::success;
}

template <typename Value>
int put_number(abi::Device device, const char* key, const char* otherwise, Value* into) {
  Card* const card = card_of(device);
  if (card == nullptr) return abi::uninitialized;
  const std::string word = card->next(key, otherwise);
  if (const auto code = code_of(word)) return *code;
  *into = static_cast<Value>(number_of(word));
  return abi::success;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int nvmlInit_v2() {
  if (users == 0) profile = Profile::read("JOULEGRID_NVML_DOUBLE");
  const std::string word = profile.library.next("init", "0");
  if (const auto code = code_of(word)) return *code;
  ++users;
  return abi::success;
}

EXPORT int nvmlShutdown() {
  if (users == 0) return abi::uninitialized;
  if (--users == 0) profile = {};
  return abi::success;
}

EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case abi::not_supported: return "Not Supported";
    case abi::no_permission: return "Insufficient Permissions";
    case abi::driver_not_loaded: return "Driver Not Loaded";
    case abi::gpu_is_lost: return "GPU is lost";
    case abi::lib_rm_version_mismatch: return "Driver/library version mismatch";
    default: return "Unknown Error";
  }
}

EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return put_text(profile.library.has("driver") ? profile.library.text("driver") : "550.54.15", version, length);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  if (users == 0) return abi::uninitialized;
  if (const auto code = code_of(profile.library.next("count", "0"))) return *code;
  *count = static_cast<unsigned>(profile.cards.size());
  return abi::success;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, abi::Device* device) {
  if (index >= profile.cards.size()) return abi::invalid_argument;
  if (const auto code = code_of(profile.cards[index].next("handle", "0"))) return *code;
  *device = reinterpret_cast<abi::Device>(&profile.cards[index]);
  return abi::success;
}

EXPORT int nvmlDeviceGetName(abi::Device device, char* name, unsigned length) {
  Card* const card = card_of(device);
  return card == nullptr ? static_cast<int>(abi::uninitialized) : put_text(card->text("name"), name, length);
}

EXPORT int nvmlDeviceGetUUID(abi::Device device, char* uuid, unsigned length) {
  Card* const card = card_of(device);
  return card == nullptr ? static_cast<int>(abi::uninitialized) : put_text(card->text("uuid"), uuid, length);
}

EXPORT int nvmlDeviceGetPciInfo_v3(abi::Device device, abi::PciInfo* info) {
  Card* const card = card_of(device);
  if (card == nullptr) return abi::uninitialized;
  const std::string bus = card->text("bus");
  if (std::sscanf(bus.c_str(), "%x:%x:%x", &info->domain, &info->bus, &info->device) != 3) return abi::unknown;
  return put_text(bus, info->bus_id, sizeof(info->bus_id));
}

#ifndef WITHOUT_ENERGY
EXPORT int nvmlDeviceGetTotalEnergyConsumption(abi::Device device, unsigned long long* millijoules) {
  const Card* const card = card_of(device);
  if (const auto live = card == nullptr ? std::nullopt : card->live()) {
    *millijoules = *live;
    return abi::success;
  }
  return put_number(device, "energy", "E3", millijoules);
}
#endif

EXPORT int nvmlDeviceGetPowerUsage(abi::Device device, unsigned* milliwatts) {
  return put_number(device, "power", "E3", milliwatts);
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(abi::Device device, unsigned* milliwatts) {
  return put_number(device, "limit", "E3", milliwatts);
}

EXPORT int nvmlDeviceGetTemperature(abi::Device device, unsigned sensor, unsigned* degrees) {
  return sensor == abi::sensor_gpu ? put_number(device, "temperature", "E3", degrees) : abi::invalid_argument;
}

EXPORT int nvmlDeviceGetClockInfo(abi::Device device, unsigned kind, unsigned* megahertz) {
  const char* const keys[] = {"graphics_clock", "sm_clock", "memory_clock"};
  return kind < 3 ? put_number(device, keys[kind], "E3", megahertz) : abi::invalid_argument;
}

EXPORT int nvmlDeviceGetPersistenceMode(abi::Device device, unsigned* mode) {
  return put_number(device, "persistence", "1", mode);
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(abi::Device device, unsigned long long* bits) {
  return put_number(device, "throttle", "E3", bits);
}

#ifndef OLD
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(abi::Device device, unsigned long long* bits) {
  return put_number(device, "events", "E3", bits);
}

EXPORT int nvmlDeviceGetMigMode(abi::Device device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return put_number(device, "mig", "E3", current);
}

/// `processes = 12,40 12,40,77`: the ids of each call.
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count, abi::ProcessInfo* infos) {
  Card* const card = card_of(device);
  if (card == nullptr) return abi::uninitialized;
  const std::string word = card->next("processes", "none");
  if (const auto code = code_of(word)) return *code;
  std::vector<std::uint32_t> pids;
  if (word.starts_with("many")) {  // many40: so many processes
    for (std::uint64_t i = 0; i < number_of(word.substr(4)); ++i) pids.push_back(static_cast<std::uint32_t>(100 + i));
  } else if (word != "none") {
    std::istringstream list(word);
    for (std::string pid; std::getline(list, pid, ',');) pids.push_back(static_cast<std::uint32_t>(number_of(pid)));
  }
  const unsigned room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (room < pids.size()) return abi::insufficient_size;
  for (std::size_t i = 0; i < pids.size(); ++i) infos[i] = {pids[i], 1U << 20U, 0xFFFF'FFFF, 0xFFFF'FFFF};
  return abi::success;
}

EXPORT int nvmlDeviceGetFieldValues(abi::Device device, int count, abi::FieldValue* fields) {
  for (int i = 0; i < count; ++i) {
    if (fields[i].field != abi::field_power_instant) return abi::invalid_argument;
    fields[i].value_type = abi::value_unsigned_int;
    const Card* const card = card_of(device);
    if (const auto live = card == nullptr || card->has("instant") ? std::nullopt : card->live_power()) {
      fields[i].value.of_unsigned = static_cast<unsigned>(*live);
      fields[i].code = abi::success;
      continue;
    }
    fields[i].code = put_number(device, "instant", "E3", &fields[i].value.of_unsigned);
  }
  return abi::success;
}
#endif
