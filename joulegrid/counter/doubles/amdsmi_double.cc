// A double of libamd_smi.so, opened by path as the real one is; what it says is in the file that JOULEGRID_AMDSMI_DOUBLE names
// (profile.h). All cards are in one socket. Built once more as a library that lacks functions: WITHOUT_ENERGY.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "joulegrid/counter/amdsmi_abi.h"
#include "joulegrid/counter/doubles/profile.h"

namespace abi = joulegrid::amdsmi_abi;

namespace {

Profile profile;
bool running = false;

Card* card_of(abi::Processor processor) {
  const auto index = reinterpret_cast<std::uintptr_t>(processor) - 1;
  return running && index < profile.cards.size() ? &profile.cards[index] : nullptr;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT std::uint32_t amdsmi_init(std::uint64_t flags) {
  profile = Profile::read("JOULEGRID_AMDSMI_DOUBLE");
  if (const auto code = code_of(profile.library.next("init", "0"))) return static_cast<std::uint32_t>(*code);
  running = flags == abi::init_gpus;
  return running ? abi::success : abi::invalid;
}

EXPORT std::uint32_t amdsmi_shut_down() {
  running = false;
  return abi::success;
}

EXPORT std::uint32_t amdsmi_status_code_to_string(std::uint32_t code, const char** text) {
  *text = code == abi::not_supported ? "AMDSMI_STATUS_NOT_SUPPORTED" : "AMDSMI_STATUS_OTHER";
  return abi::success;
}

EXPORT std::uint32_t amdsmi_get_socket_handles(std::uint32_t* count, abi::Socket* sockets) {
  if (!running) return abi::not_initialised;
  *count = 1;
  if (sockets != nullptr) sockets[0] = &profile;
  return abi::success;
}

EXPORT std::uint32_t amdsmi_get_processor_handles(abi::Socket socket, std::uint32_t* count, abi::Processor* processors) {
  if (socket != &profile) return abi::invalid;
  *count = static_cast<std::uint32_t>(profile.cards.size());
  for (std::uintptr_t i = 0; processors != nullptr && i < *count; ++i) processors[i] = reinterpret_cast<abi::Processor>(i + 1);
  return abi::success;
}

EXPORT std::uint32_t amdsmi_get_gpu_device_uuid(abi::Processor processor, unsigned* length, char* uuid) {
  Card* const card = card_of(processor);
  if (card == nullptr) return abi::invalid;
  std::snprintf(uuid, *length, "%s", card->text("uuid").c_str());
  return abi::success;
}

/// `bus = 0000:03:00.0`, `partition = 1`.
EXPORT std::uint32_t amdsmi_get_gpu_bdf_id(abi::Processor processor, std::uint64_t* id) {
  Card* const card = card_of(processor);
  if (card == nullptr) return abi::invalid;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  std::sscanf(card->text("bus").c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function);
  *id = std::uint64_t{domain} << 32U | number_of(card->next("partition", "0")) << 28U | bus << 8U | device << 3U | function;
  return abi::success;
}

#ifndef WITHOUT_ENERGY
EXPORT std::uint32_t amdsmi_get_energy_count(abi::Processor processor, std::uint64_t* count, float* resolution,
                                             std::uint64_t* timestamp) {
  Card* const card = card_of(processor);
  if (card == nullptr) return abi::invalid;
  const std::string word = card->next("energy", "E2");
  if (const auto code = code_of(word)) return static_cast<std::uint32_t>(*code);
  *count = number_of(word);
  *resolution = std::stof(card->next("resolution", "15.259"));
  *timestamp = 0;
  return abi::success;
}
#endif

EXPORT std::uint32_t amdsmi_get_temp_metric(abi::Processor processor, std::uint32_t sensor, std::uint32_t /*metric*/,
                                            std::int64_t* degrees) {
  Card* const card = card_of(processor);
  if (card == nullptr) return abi::invalid;
  const std::string word = card->next(sensor == abi::temperature_edge ? "edge" : "hotspot", "E2");
  if (const auto code = code_of(word)) return static_cast<std::uint32_t>(*code);
  *degrees = std::stoll(word);
  return abi::success;
}
