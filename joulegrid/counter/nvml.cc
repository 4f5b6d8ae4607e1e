#include "joulegrid/counter/nvml.h"

#include <algorithm>
#include <array>
#include <utility>

#include "joulegrid/base/quote.h"
#include "joulegrid/counter/continuity.h"
#include "joulegrid/counter/nvml_abi.h"
#include "joulegrid/counter/shared_library.h"

namespace joulegrid {

namespace {

namespace abi = nvml_abi;

FaultKind kind_of(int code) {
  switch (code) {
    case abi::not_supported: return FaultKind::not_supported;
    case abi::no_permission: return FaultKind::no_permission;
    case abi::not_found: return FaultKind::not_present;
    case abi::driver_not_loaded: return FaultKind::driver_not_loaded;
    case abi::library_not_found: return FaultKind::library_missing;
    case abi::function_not_found: return FaultKind::symbol_missing;
    case abi::gpu_is_lost:
    case abi::reset_required: return FaultKind::device_lost;
    case abi::lib_rm_version_mismatch: return FaultKind::version_mismatch;
    default: return FaultKind::source_error;
  }
}

/// What somebody can do about it, or nothing.
const char* advice(int code) {
  switch (code) {
    case abi::driver_not_loaded: return "; load the kernel module nvidia";
    case abi::lib_rm_version_mismatch: return "; restart the machine, or reload the driver, after its update";
    case abi::no_permission: return "; an administrator decides who may read it";
    default: return "";
  }
}

/// NVML, initialised; shut down with the last owner. Functions that are null are not in this library.
class Nvml {
 public:
  static Measured<std::shared_ptr<const Nvml>> open(std::shared_ptr<const SharedLibrary> library) {
    std::shared_ptr<Nvml> nvml(new Nvml(std::move(library)));
    const auto missing = [&](const char* name) {
      return Fault{FaultKind::symbol_missing,
                   std::string("the library has no function ") + name + "; it is too old, or not NVML"};
    };
    if (nvml->init_ == nullptr) return missing("nvmlInit_v2");
    if (nvml->shutdown_ == nullptr) return missing("nvmlShutdown");
    if (nvml->get_count == nullptr) return missing("nvmlDeviceGetCount_v2");
    if (nvml->get_handle == nullptr) return missing("nvmlDeviceGetHandleByIndex_v2");
    if (nvml->get_uuid == nullptr) return missing("nvmlDeviceGetUUID");
    if (nvml->get_energy == nullptr) return missing("nvmlDeviceGetTotalEnergyConsumption");
    if (const int code = nvml->init_(); code != abi::success) return nvml->fault("nvmlInit_v2", code);
    nvml->initialised_ = true;
    return std::shared_ptr<const Nvml>(std::move(nvml));
  }

  ~Nvml() {
    if (initialised_) shutdown_();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  Fault fault(const char* function, int code) const {
    const char* const text = error_string == nullptr ? nullptr : error_string(code);
    return {kind_of(code), std::string(function) + " says " + std::to_string(code) +
                               (text == nullptr ? "" : " (" + printable(text) + ")") + advice(code)};
  }

  /// The result of a function that writes one value, or why there is none.
  template <typename Result, typename Value, typename Function, typename... Arguments>
  Measured<Result> ask(const char* name, Function* function, Arguments... arguments) const {
    if (function == nullptr) return Fault{FaultKind::symbol_missing, std::string("the library has no function ") + name};
    Value value{};
    if (const int code = function(arguments..., &value); code != abi::success) return fault(name, code);
    return Result(value);
  }

  /// A text of the device, empty where there is none.
  std::string text_of(abi::DeviceGetText* function, abi::Device device) const {
    std::array<char, abi::uuid_bytes + 1> text{};
    if (function == nullptr || function(device, text.data(), static_cast<unsigned>(text.size() - 1)) != abi::success) return {};
    return printable(text.data());
  }

  std::string driver_version() const {
    std::array<char, abi::version_bytes + 1> text{};
    if (get_driver == nullptr || get_driver(text.data(), static_cast<unsigned>(text.size() - 1)) != abi::success) return {};
    return printable(text.data());
  }

 private:
  explicit Nvml(std::shared_ptr<const SharedLibrary> library) : library_(std::move(library)) {}

  template <typename Function>
  Function* get(const char* name) const {
    return library_->function<Function>(name);
  }

  std::shared_ptr<const SharedLibrary> library_;
  abi::Init* init_ = get<abi::Init>("nvmlInit_v2");
  abi::Shutdown* shutdown_ = get<abi::Shutdown>("nvmlShutdown");
  bool initialised_ = false;

 public:
  abi::DeviceGetCount* get_count = get<abi::DeviceGetCount>("nvmlDeviceGetCount_v2");
  abi::DeviceGetHandleByIndex* get_handle = get<abi::DeviceGetHandleByIndex>("nvmlDeviceGetHandleByIndex_v2");
  abi::DeviceGetText* get_uuid = get<abi::DeviceGetText>("nvmlDeviceGetUUID");
  abi::DeviceGetTotalEnergy* get_energy = get<abi::DeviceGetTotalEnergy>("nvmlDeviceGetTotalEnergyConsumption");
  // From here on a library may do without.
  abi::ErrorString* error_string = get<abi::ErrorString>("nvmlErrorString");
  abi::SystemGetDriverVersion* get_driver = get<abi::SystemGetDriverVersion>("nvmlSystemGetDriverVersion");
  abi::DeviceGetText* get_name = get<abi::DeviceGetText>("nvmlDeviceGetName");
  abi::DeviceGetPciInfo* get_pci = get<abi::DeviceGetPciInfo>("nvmlDeviceGetPciInfo_v3");
  abi::DeviceGetMigMode* get_mig_mode = get<abi::DeviceGetMigMode>("nvmlDeviceGetMigMode");
  abi::DeviceGetUnsigned* get_persistence = get<abi::DeviceGetUnsigned>("nvmlDeviceGetPersistenceMode");
  abi::DeviceGetUnsigned* get_power = get<abi::DeviceGetUnsigned>("nvmlDeviceGetPowerUsage");
  abi::DeviceGetUnsigned* get_power_limit = get<abi::DeviceGetUnsigned>("nvmlDeviceGetEnforcedPowerLimit");
  abi::DeviceGetOfKind* get_temperature = get<abi::DeviceGetOfKind>("nvmlDeviceGetTemperature");
  abi::DeviceGetOfKind* get_clock = get<abi::DeviceGetOfKind>("nvmlDeviceGetClockInfo");
  abi::DeviceGetReasons* get_event_reasons = get<abi::DeviceGetReasons>("nvmlDeviceGetCurrentClocksEventReasons");
  abi::DeviceGetReasons* get_throttle_reasons = get<abi::DeviceGetReasons>("nvmlDeviceGetCurrentClocksThrottleReasons");
  abi::DeviceGetProcesses* get_processes = get<abi::DeviceGetProcesses>("nvmlDeviceGetComputeRunningProcesses_v3");
  abi::DeviceGetFieldValues* get_fields = get<abi::DeviceGetFieldValues>("nvmlDeviceGetFieldValues");
};

class NvmlCounter final : public EnergyCounter {
 public:
  NvmlCounter(std::shared_ptr<const Nvml> nvml, abi::Device device, CounterDescription description, TimeSource& time)
      : nvml_(std::move(nvml)), device_(device), description_(std::move(description)), time_(time) {}

  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    return continuity_.accept(timed_reading(time_, [&]() -> Measured<Microjoules> {
      constexpr Wide microjoules_per_millijoule = 1000;
      unsigned long long millijoules = 0;
      const int code = nvml_->get_energy(device_, &millijoules);
      if (code != abi::success) return nvml_->fault("nvmlDeviceGetTotalEnergyConsumption", code);
      return Microjoules(millijoules * microjoules_per_millijoule);
    }));
  }

  TelemetrySample telemetry() override {
    const auto clock = [&](unsigned kind) {
      return nvml_->ask<std::uint64_t, unsigned>("nvmlDeviceGetClockInfo", nvml_->get_clock, device_, kind);
    };
    TelemetrySample sample = TelemetrySample::missing(time_.now(), {});
    sample.power_mw = instant_power();
    if (!sample.power_mw) {
      sample.power_mw = nvml_->ask<std::uint64_t, unsigned>("nvmlDeviceGetPowerUsage", nvml_->get_power, device_);
      sample.power_is_average = true;
    }
    sample.power_limit_mw =
        nvml_->ask<std::uint64_t, unsigned>("nvmlDeviceGetEnforcedPowerLimit", nvml_->get_power_limit, device_);
    sample.temperature_c =
        nvml_->ask<std::int64_t, unsigned>("nvmlDeviceGetTemperature", nvml_->get_temperature, device_, abi::sensor_gpu);
    sample.graphics_clock_mhz = clock(abi::clock_graphics);
    sample.sm_clock_mhz = clock(abi::clock_sm);
    sample.memory_clock_mhz = clock(abi::clock_memory);
    sample.clock_events = clock_events();
    sample.processes = processes();
    return sample;
  }

 private:
  Measured<std::uint64_t> instant_power() const {
    constexpr const char* name = "nvmlDeviceGetFieldValues";
    if (nvml_->get_fields == nullptr)
      return Fault{FaultKind::symbol_missing, std::string("the library has no function ") + name};
    abi::FieldValue field{};
    field.field = abi::field_power_instant;
    if (const int code = nvml_->get_fields(device_, 1, &field); code != abi::success) return nvml_->fault(name, code);
    if (field.code != abi::success) return nvml_->fault(name, field.code);
    if (field.value_type != abi::value_unsigned_int) {
      return Fault{FaultKind::malformed, "the power is of type " + std::to_string(field.value_type) + ", expected 1"};
    }
    return std::uint64_t{field.value.of_unsigned};
  }

  Measured<ClockEvents> clock_events() const {
    const bool newer = nvml_->get_event_reasons != nullptr;
    const Measured<std::uint64_t> bits = nvml_->ask<std::uint64_t, unsigned long long>(
        newer ? "nvmlDeviceGetCurrentClocksEventReasons" : "nvmlDeviceGetCurrentClocksThrottleReasons",
        newer ? nvml_->get_event_reasons : nvml_->get_throttle_reasons, device_);
    if (!bits) return bits.fault();
    return ClockEvents{bits.value()};
  }

  Measured<std::vector<ComputeProcess>> processes() const {
    constexpr const char* name = "nvmlDeviceGetComputeRunningProcesses_v3";
    constexpr unsigned most = 65536;
    if (nvml_->get_processes == nullptr) {
      return Fault{FaultKind::symbol_missing, std::string("the library has no function ") + name};
    }
    std::vector<abi::ProcessInfo> infos(16);
    for (;;) {
      auto count = static_cast<unsigned>(infos.size());
      const int code = nvml_->get_processes(device_, &count, infos.data());
      if (code == abi::insufficient_size && infos.size() < most) {
        infos.resize(
            std::min<std::size_t>(most, std::max<std::size_t>(count, infos.size()) * 2));  // others may begin meanwhile
        continue;
      }
      if (code != abi::success) return nvml_->fault(name, code);
      if (count > infos.size()) return Fault{FaultKind::malformed, std::string(name) + " tells of more processes than fit"};
      std::vector<ComputeProcess> processes;
      for (unsigned i = 0; i < count; ++i) processes.push_back({infos[i].pid, infos[i].used_memory});
      return processes;
    }
  }

  std::shared_ptr<const Nvml> nvml_;
  abi::Device device_;
  CounterDescription description_;
  TimeSource& time_;
  Continuity continuity_;
};

CounterDescription nvml_description() {
  CounterDescription description;
  description.kind = CounterKind::nvml;
  description.name = "nvml";
  description.scope = CounterScope::gpu_board;
  description.unit = "1 mJ";
  description.includes = {"the whole board: GPU, memory, regulators"};
  return description;
}

/// Why the board's counter would not be the energy of what runs on it, if so.
std::optional<Fault> divided(const Nvml& nvml, abi::Device device) {
  if (nvml.get_mig_mode == nullptr) return std::nullopt;  // a library from before MIG
  unsigned current = 0;
  unsigned pending = 0;
  const int code = nvml.get_mig_mode(device, &current, &pending);
  if (code == abi::not_supported) return std::nullopt;
  if (code != abi::success) return nvml.fault("nvmlDeviceGetMigMode", code);
  if (current != abi::mig_enabled) return std::nullopt;
  return Fault{FaultKind::partitioned,
               "MIG is on and the counter is the whole board's; switch MIG off (nvidia-smi -mig 0) to measure on it"};
}

FoundCounter open_device(const std::shared_ptr<const Nvml>& nvml, unsigned index, CounterDescription description,
                         TimeSource& time) {
  // The index only enumerates; the name is the UUID.
  description.name = "nvml:device " + std::to_string(index);
  abi::Device device = nullptr;
  if (const int code = nvml->get_handle(index, &device); code != abi::success) {
    return {description, nvml->fault("nvmlDeviceGetHandleByIndex_v2", code)};
  }
  DeviceIdentity& identity = description.device;
  identity.uuid = nvml->text_of(nvml->get_uuid, device);
  identity.name = nvml->text_of(nvml->get_name, device);
  abi::PciInfo pci{};
  if (nvml->get_pci != nullptr && nvml->get_pci(device, &pci) == abi::success) {
    identity.pci = PciAddress{pci.domain, pci.bus, pci.device, 0};
  }
  if (identity.uuid.empty() && !identity.pci) {
    return {description, Fault{FaultKind::malformed, "the device has neither a UUID nor a PCI address to know it by"}};
  }
  description.name = "nvml:" + (identity.uuid.empty() ? to_string(*identity.pci) : identity.uuid);
  unsigned persistent = 0;
  if (nvml->get_persistence != nullptr && nvml->get_persistence(device, &persistent) == abi::success && persistent == 0) {
    description.notes.emplace_back("persistence mode is off: the counter begins anew when the last user of the GPU leaves");
  }
  if (std::optional<Fault> fault = divided(*nvml, device)) return {description, *fault};
  auto counter = std::make_unique<NvmlCounter>(nvml, device, description, time);
  if (const Measured<Reading> first = counter->read(); !first) return {description, first.fault()};
  return {description, std::unique_ptr<EnergyCounter>(std::move(counter))};
}

}  // namespace

std::vector<FoundCounter> find_nvml(const std::string& library, TimeSource& time) {
  CounterDescription description = nvml_description();
  const auto only = [&](const Fault& fault) {
    std::vector<FoundCounter> found;
    found.push_back({description, fault});
    return found;
  };
  const auto opened = SharedLibrary::open(library.empty() ? "libnvidia-ml.so.1" : library);
  if (!opened) {
    if (!library.empty()) throw Error(ErrorCode::unavailable, opened.fault().reason, "NVML library");
    return only(opened.fault());
  }
  const Measured<std::shared_ptr<const Nvml>> started = Nvml::open(opened.value());
  if (!started) return only(started.fault());
  const std::shared_ptr<const Nvml>& nvml = started.value();
  description.driver = nvml->driver_version();
  unsigned count = 0;
  if (const int code = nvml->get_count(&count); code != abi::success) return only(nvml->fault("nvmlDeviceGetCount_v2", code));
  if (count == 0) return only({FaultKind::not_present, "the driver knows of no GPU"});
  std::vector<FoundCounter> found;
  for (unsigned i = 0; i < count; ++i) found.push_back(open_device(nvml, i, description, time));
  return found;
}

}  // namespace joulegrid
