#include "joulegrid/counter/energy_counter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

constexpr std::array<std::pair<CounterScope, const char*>, 5> scope_names{{
    {CounterScope::gpu_board, "GPU board"},
    {CounterScope::cpu_package, "CPU package"},
    {CounterScope::package_and_dram, "CPU package + DRAM"},
    {CounterScope::platform, "platform"},
    {CounterScope::nothing, "nothing"},
}};

/// All of the text as hexadecimal digits, at most `most` of them.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > most) return std::nullopt;
  return value;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

}  // namespace

const char* kind_name(CounterKind kind) {
  switch (kind) {
    case CounterKind::nvml: return "nvml";
    case CounterKind::rapl: return "rapl";
    case CounterKind::perf: return "perf";
    case CounterKind::amdsmi: return "amdsmi";
    case CounterKind::replay: return "replay";
    case CounterKind::none: return "none";
  }
  check(false, "every kind of counter has a name");
  return "";
}

CounterKind parse_kind_name(const std::string& name, const std::string& where) {
  for (const CounterKind kind :
       {CounterKind::nvml, CounterKind::rapl, CounterKind::perf, CounterKind::amdsmi, CounterKind::replay, CounterKind::none}) {
    if (name == kind_name(kind)) return kind;
  }
  throw Error(ErrorCode::bad_input, "no kind of counter is called " + in_quotes(name), where);
}

const char* scope_name(CounterScope scope) { return scope_names.at(static_cast<std::size_t>(scope)).second; }

CounterScope parse_scope_name(const std::string& name, const std::string& where) {
  for (const auto& [scope, its_name] : scope_names) {
    if (name == its_name) return scope;
  }
  throw Error(ErrorCode::bad_input, "no scope is called " + in_quotes(name), where);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint32_t> function = hexadecimal(text.substr(dot + 1), 1);
  std::string_view rest = text.substr(0, dot);
  const std::size_t device_colon = rest.rfind(':');
  if (device_colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint32_t> device = hexadecimal(rest.substr(device_colon + 1), 2);
  rest = rest.substr(0, device_colon);
  const std::size_t bus_colon = rest.rfind(':');
  std::optional<std::uint32_t> domain = 0;
  if (bus_colon != std::string_view::npos) {
    domain = hexadecimal(rest.substr(0, bus_colon), 8);
    rest = rest.substr(bus_colon + 1);
  }
  const std::optional<std::uint32_t> bus = hexadecimal(rest, 2);
  if (!function || !device || !domain || !bus || *device > 0x1F || *function > 7) return std::nullopt;
  return PciAddress{*domain, *bus, *device, *function};
}

std::string to_string(const PciAddress& address) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", address.domain, address.bus, address.device, address.function);
  return text.data();
}

bool names_device(std::string_view wanted, const DeviceIdentity& device) {
  if (const auto address = parse_pci_address(wanted)) return device.pci == address;
  constexpr std::size_t shortest_uuid = 8;  // "GPU-" and four digits
  return wanted.size() >= shortest_uuid && lower(device.uuid).starts_with(lower(wanted));
}

std::string to_string(ClockEvents events) {
  static constexpr std::array<std::pair<std::uint64_t, const char*>, 7> names{{
      {ClockEvents::idle, "idle"},
      {ClockEvents::application_clocks, "application clocks"},
      {ClockEvents::software_power_cap, "software power cap"},
      {ClockEvents::hardware_slowdown, "hardware slowdown"},
      {ClockEvents::software_thermal, "software thermal"},
      {ClockEvents::hardware_thermal, "hardware thermal"},
      {ClockEvents::power_brake, "power brake"},
  }};
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  std::uint64_t rest = events.bits;
  for (const auto& [bit, name] : names) {
    if ((events.bits & bit) != 0) add(name);
    rest &= ~bit;
  }
  if (rest != 0) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%llx", static_cast<unsigned long long>(rest));
    add(digits.data());
  }
  return text.empty() ? "none" : text;
}

TelemetrySample TelemetrySample::missing(TimeSource::Instant at, const Fault& fault) {
  return {at, fault, false, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault};
}

std::vector<ComputeProcess> appeared(const std::vector<ComputeProcess>& before, const std::vector<ComputeProcess>& now) {
  std::vector<ComputeProcess> fresh;
  std::copy_if(now.begin(), now.end(), std::back_inserter(fresh), [&](const ComputeProcess& process) {
    return std::none_of(before.begin(), before.end(), [&](const ComputeProcess& old) { return old.pid == process.pid; });
  });
  return fresh;
}

TelemetrySample EnergyCounter::telemetry() {
  return TelemetrySample::missing(
      steady_time().now(), {FaultKind::not_supported, std::string(kind_name(describe().kind)) + " tells nothing but energy"});
}

Measured<Microjoules> energy_between(const Measured<Reading>& first, const Measured<Reading>& last,
                                     std::chrono::nanoseconds tick) {
  constexpr int ticks_of_nothing = 8;
  if (!first) return first.fault();
  if (!last) return last.fault();
  const Reading& begin = first.value();
  const Reading& end = last.value();
  check(end.at >= begin.at, "the later reading comes last");
  if (end.energy < begin.energy) {
    return Fault{FaultKind::went_backwards,
                 "the counter went from " + to_string(begin.energy.count()) + " to " + to_string(end.energy.count()) + " µJ"};
  }
  if (end.energy == begin.energy && tick.count() > 0 && end.at - begin.at >= ticks_of_nothing * tick) {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(end.at - begin.at).count();
    return Fault{FaultKind::zero_delta, "the counter stood still for " + std::to_string(milliseconds) + " ms"};
  }
  return Microjoules(checked_sub(end.energy.count(), begin.energy.count()));
}

}  // namespace joulegrid
