#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/base/quantity.h"
#include "joulegrid/counter/fault.h"
#include "joulegrid/counter/time_source.h"

namespace joulegrid {

/// Where a counter comes from.
enum class CounterKind { nvml, rapl, perf, amdsmi, replay, none };

/// "nvml".
const char* kind_name(CounterKind kind);

/// The kind of that name; throws Error(bad_input, where) where there is none.
CounterKind parse_kind_name(const std::string& name, const std::string& where);

/// What a counter's energy is the energy of.
enum class CounterScope {
  gpu_board,         ///< one whole GPU board, memory and voltage regulators included
  cpu_package,       ///< all CPU packages of the machine, without their memory
  package_and_dram,  ///< all CPU packages and the memory attached to them
  platform,          ///< psys: the platform as its firmware defines it
  nothing,           ///< of the counter `none`
};

/// "GPU board", "CPU package", "CPU package + DRAM", "platform", "nothing".
const char* scope_name(CounterScope scope);

/// The scope of that name; throws Error(bad_input, where) where there is none.
CounterScope parse_scope_name(const std::string& name, const std::string& where);

/// One PCI function. CUDA, NVML and amdsmi write the same one differently; compare these.
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t function = 0;

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

/// Reads "0000:65:00.0", "00000000:65:00.0" or "65:00.0", whatever the case of the digits; nothing where it is none of them.
std::optional<PciAddress> parse_pci_address(std::string_view text);

/// "0000:65:00.0".
std::string to_string(const PciAddress& address);

/// What is known of a device; an empty text is not known.
struct DeviceIdentity {
  std::string uuid;  ///< as its library writes it: "GPU-…"
  std::optional<PciAddress> pci;
  std::string name;  ///< of the product
};

/// Whether `device` is the one that `wanted` names: by UUID, by the beginning of one of at least 4 characters after "GPU-" (as
/// CUDA_VISIBLE_DEVICES has them), or by PCI address. Never by an index: CUDA and NVML count in different orders. A short
/// UUID may name several devices; the caller has to look at all.
bool names_device(std::string_view wanted, const DeviceIdentity& device);

/// What a counter is.
struct CounterDescription {
  CounterKind kind = CounterKind::none;
  std::string name;  ///< what --counter takes: "nvml:GPU-…", "rapl:package"
  CounterScope scope = CounterScope::nothing;
  std::vector<std::string> includes;  ///< what is in it, in words: "package-0 (with core, uncore)"
  std::string unit;                   ///< what its source counts in: "1 mJ", "15.3 µJ"
  DeviceIdentity device;
  std::string driver;                                   ///< version of the driver, empty where not known
  std::optional<std::chrono::nanoseconds> longest_gap;  ///< read it at least this often: it wraps
  std::vector<std::string> notes;                       ///< what somebody who uses its numbers should know
};

/// A counter's energy at an instant.
struct Reading {
  Microjoules energy;               ///< since some moment before the counter was opened; differences mean something
  TimeSource::Instant at;           ///< in the middle of the read
  std::chrono::nanoseconds took{};  ///< how long the read was; the energy is that of some instant within

  friend bool operator==(const Reading&, const Reading&) = default;
};

/// A process that computes on the device.
struct ComputeProcess {
  std::uint32_t pid = 0;  ///< as the driver sees it: not this container's number
  std::uint64_t memory_bytes = 0;

  friend bool operator==(const ComputeProcess&, const ComputeProcess&) = default;
};

/// Why a clock is lower than it might be: the bits of NVML's clock-event reasons.
struct ClockEvents {
  std::uint64_t bits = 0;

  static constexpr std::uint64_t idle = 0x1;
  static constexpr std::uint64_t application_clocks = 0x2;
  static constexpr std::uint64_t software_power_cap = 0x4;
  static constexpr std::uint64_t hardware_slowdown = 0x8;
  static constexpr std::uint64_t software_thermal = 0x20;
  static constexpr std::uint64_t hardware_thermal = 0x40;
  static constexpr std::uint64_t power_brake = 0x80;

  bool power_capped() const { return (bits & (software_power_cap | power_brake)) != 0; }
  bool thermal() const { return (bits & (software_thermal | hardware_thermal)) != 0; }
  bool slowed_down() const { return (bits & hardware_slowdown) != 0; }

  friend bool operator==(ClockEvents, ClockEvents) = default;
};

/// "software power cap, hardware thermal"; "none"; bits without a name in hexadecimal digits.
std::string to_string(ClockEvents events);

/// Supporting evidence beside the energy; what the device does not tell carries its reason.
struct TelemetrySample {
  TimeSource::Instant at;
  Measured<std::uint64_t> power_mw;        ///< of this moment where the device tells, or else its own average
  bool power_is_average = false;           ///< the latter: over up to a second
  Measured<std::uint64_t> power_limit_mw;  ///< enforced
  Measured<std::int64_t> temperature_c;
  Measured<std::uint64_t> graphics_clock_mhz;
  Measured<std::uint64_t> sm_clock_mhz;
  Measured<std::uint64_t> memory_clock_mhz;
  Measured<ClockEvents> clock_events;
  Measured<std::vector<ComputeProcess>> processes;
  // Of whoever takes samples:
  Measured<Reading> counter;
  Measured<std::uint64_t> busy_us;  ///< processor time of everything on this machine since some moment, all CPUs together
  Measured<std::uint64_t> own_us;   ///< of this process and the children that it has waited for

  /// A sample where everything is missing for one reason.
  static TelemetrySample missing(TimeSource::Instant at, const Fault& fault);

  friend bool operator==(const TelemetrySample&, const TelemetrySample&) = default;
};

/// The processes of `now` that `before` has not: whoever began to compute beside the measurement.
std::vector<ComputeProcess> appeared(const std::vector<ComputeProcess>& before, const std::vector<ComputeProcess>& now);

/// A source of energy readings.
///
/// Readings are monotone: a counter that has lost its continuity (device lost, driver reloaded, gone backwards, left unread
/// for too long) gives that fault from then on, and never a number again; open it anew. Other faults may pass.
///
/// Nothing here throws for a measurement that is missing. `read` is for one thread at a time; `telemetry` may run on another
/// one beside it.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;

  virtual const CounterDescription& describe() const = 0;

  virtual Measured<Reading> read() = 0;

  /// Everything missing where the counter has none.
  virtual TelemetrySample telemetry();
};

/// The energy from one reading to a later one. A fault of either is the result's. With a `tick` above zero a difference of
/// nothing over eight ticks or more is FaultKind::zero_delta: nothing that can be measured uses no energy.
Measured<Microjoules> energy_between(const Measured<Reading>& first, const Measured<Reading>& last,
                                     std::chrono::nanoseconds tick = {});

}  // namespace joulegrid
