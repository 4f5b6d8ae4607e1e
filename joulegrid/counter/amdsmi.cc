#include "joulegrid/counter/amdsmi.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "joulegrid/base/quote.h"
#include "joulegrid/counter/amdsmi_abi.h"
#include "joulegrid/counter/continuity.h"
#include "joulegrid/counter/ratio.h"
#include "joulegrid/counter/shared_library.h"

namespace joulegrid {

namespace {

namespace abi = amdsmi_abi;

FaultKind kind_of(std::uint32_t code) {
  switch (code) {
    case abi::not_supported:
    case abi::not_yet_implemented: return FaultKind::not_supported;
    case abi::fail_load_module: return FaultKind::library_missing;
    case abi::fail_load_symbol: return FaultKind::symbol_missing;
    case abi::no_permission: return FaultKind::no_permission;
    case abi::not_found: return FaultKind::not_present;
    case abi::not_initialised:
    case abi::driver_not_loaded: return FaultKind::driver_not_loaded;
    default: return FaultKind::source_error;
  }
}

/// amdsmi, initialised for GPUs; shut down with the last owner.
class Amdsmi {
 public:
  static Measured<std::shared_ptr<const Amdsmi>> open(std::shared_ptr<const SharedLibrary> library) {
    std::shared_ptr<Amdsmi> amdsmi(new Amdsmi(std::move(library)));
    const auto missing = [&](const char* name) {
      return Fault{FaultKind::symbol_missing,
                   std::string("the library has no function ") + name + "; it is too old, or not amdsmi"};
    };
    if (amdsmi->init_ == nullptr) return missing("amdsmi_init");
    if (amdsmi->shut_down_ == nullptr) return missing("amdsmi_shut_down");
    if (amdsmi->get_sockets == nullptr) return missing("amdsmi_get_socket_handles");
    if (amdsmi->get_processors == nullptr) return missing("amdsmi_get_processor_handles");
    if (amdsmi->get_bdf_id == nullptr) return missing("amdsmi_get_gpu_bdf_id");
    if (amdsmi->get_energy == nullptr) return missing("amdsmi_get_energy_count");
    if (const std::uint32_t code = amdsmi->init_(abi::init_gpus); code != abi::success) {
      return amdsmi->fault("amdsmi_init", code);
    }
    amdsmi->initialised_ = true;
    return std::shared_ptr<const Amdsmi>(std::move(amdsmi));
  }

  ~Amdsmi() {
    if (initialised_) shut_down_();
  }
  Amdsmi(const Amdsmi&) = delete;
  Amdsmi& operator=(const Amdsmi&) = delete;

  Fault fault(const char* function, std::uint32_t code) const {
    const char* text = nullptr;
    if (to_text != nullptr && to_text(code, &text) != abi::success) text = nullptr;
    return {kind_of(code), std::string(function) + " says " + std::to_string(code) +
                               (text == nullptr ? "" : " (" + printable(text) + ")") +
                               (kind_of(code) == FaultKind::driver_not_loaded ? "; load the kernel module amdgpu" : "")};
  }

 private:
  explicit Amdsmi(std::shared_ptr<const SharedLibrary> library) : library_(std::move(library)) {}

  template <typename Function>
  Function* get(const char* name) const {
    return library_->function<Function>(name);
  }

  std::shared_ptr<const SharedLibrary> library_;
  abi::Init* init_ = get<abi::Init>("amdsmi_init");
  abi::ShutDown* shut_down_ = get<abi::ShutDown>("amdsmi_shut_down");
  bool initialised_ = false;

 public:
  abi::GetSockets* get_sockets = get<abi::GetSockets>("amdsmi_get_socket_handles");
  abi::GetProcessors* get_processors = get<abi::GetProcessors>("amdsmi_get_processor_handles");
  abi::GetBdfId* get_bdf_id = get<abi::GetBdfId>("amdsmi_get_gpu_bdf_id");
  abi::GetEnergy* get_energy = get<abi::GetEnergy>("amdsmi_get_energy_count");
  // From here on a library may do without.
  abi::StatusToString* to_text = get<abi::StatusToString>("amdsmi_status_code_to_string");
  abi::GetUuid* get_uuid = get<abi::GetUuid>("amdsmi_get_gpu_device_uuid");
  abi::GetTemperature* get_temperature = get<abi::GetTemperature>("amdsmi_get_temp_metric");
};

class AmdsmiCounter final : public EnergyCounter {
 public:
  AmdsmiCounter(std::shared_ptr<const Amdsmi> amdsmi, abi::Processor processor, CounterDescription description,
                TimeSource& time)
      : amdsmi_(std::move(amdsmi)), processor_(processor), description_(std::move(description)), time_(time) {}

  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    return continuity_.accept(timed_reading(time_, [&] { return energy(); }));
  }

  /// The first reading; it also says what the counter counts in.
  Measured<Reading> open() {
    const Measured<Reading> first = read();
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), resolution_);
    if (first && error == std::errc()) description_.unit = std::string(digits.data(), end) + " µJ";
    return first;
  }

  TelemetrySample telemetry() override {
    TelemetrySample sample = TelemetrySample::missing(
        time_.now(), {FaultKind::not_supported, "amdsmi's structures for this differ from release to release"});
    sample.temperature_c = temperature();
    return sample;
  }

 private:
  Measured<Microjoules> energy() {
    std::uint64_t count = 0;
    std::uint64_t timestamp = 0;
    float resolution = 0;
    const std::uint32_t code = amdsmi_->get_energy(processor_, &count, &resolution, &timestamp);
    if (code == abi::not_found) return Fault{FaultKind::device_lost, amdsmi_->fault("amdsmi_get_energy_count", code).reason};
    if (code != abi::success) return amdsmi_->fault("amdsmi_get_energy_count", code);
    if (!unit_) {
      unit_ = ratio_of(resolution);
      if (!unit_) return Fault{FaultKind::malformed, "the counter's resolution is not a number above zero"};
      resolution_ = resolution;
    }
    if (resolution != resolution_) return Fault{FaultKind::malformed, "the counter's resolution has changed"};
    const std::optional<Microjoules> energy = scaled(count, *unit_);
    if (!energy) return Fault{FaultKind::malformed, "the counter's value does not fit 128 bits"};
    return *energy;
  }

  Measured<std::int64_t> temperature() const {
    constexpr const char* name = "amdsmi_get_temp_metric";
    if (amdsmi_->get_temperature == nullptr) {
      return Fault{FaultKind::symbol_missing, std::string("the library has no function ") + name};
    }
    std::int64_t degrees = 0;
    std::uint32_t code = amdsmi_->get_temperature(processor_, abi::temperature_edge, abi::temperature_current, &degrees);
    if (code == abi::not_supported) {
      code = amdsmi_->get_temperature(processor_, abi::temperature_hotspot, abi::temperature_current, &degrees);
    }
    if (code != abi::success) return amdsmi_->fault(name, code);
    return degrees;
  }

  std::shared_ptr<const Amdsmi> amdsmi_;
  abi::Processor processor_;
  CounterDescription description_;
  TimeSource& time_;
  Continuity continuity_;
  float resolution_ = 0;
  std::optional<Ratio> unit_;
};

FoundCounter open_processor(const std::shared_ptr<const Amdsmi>& amdsmi, abi::Processor processor,
                            CounterDescription description, TimeSource& time) {
  std::uint64_t bdf = 0;
  if (const std::uint32_t code = amdsmi->get_bdf_id(processor, &bdf); code != abi::success) {
    return {description, amdsmi->fault("amdsmi_get_gpu_bdf_id", code)};
  }
  DeviceIdentity& identity = description.device;
  identity.pci = PciAddress{static_cast<std::uint32_t>(bdf >> 32U), static_cast<std::uint32_t>(bdf >> 8U) & 0xFFU,
                            static_cast<std::uint32_t>(bdf >> 3U) & 0x1FU, static_cast<std::uint32_t>(bdf) & 7U};
  std::array<char, abi::uuid_bytes + 1> uuid{};
  unsigned length = abi::uuid_bytes;
  if (amdsmi->get_uuid != nullptr && amdsmi->get_uuid(processor, &length, uuid.data()) == abi::success) {
    identity.uuid = printable(uuid.data());
  }
  description.name = "amdsmi:" + to_string(*identity.pci);
  const std::uint64_t partition = (bdf >> 28U) & 0xFU;
  if (partition != 0) {
    return {description, Fault{FaultKind::partitioned, "this is partition " + std::to_string(partition) +
                                                           " of a board and the counter is the whole board's"}};
  }
  auto counter = std::make_unique<AmdsmiCounter>(amdsmi, processor, description, time);
  if (const Measured<Reading> first = counter->open(); !first) return {description, first.fault()};
  description = counter->describe();
  return {description, std::unique_ptr<EnergyCounter>(std::move(counter))};
}

/// The handles that a function gives which first says how many there are.
template <typename Handle, typename Function>
Measured<std::vector<Handle>> handles(const Amdsmi& amdsmi, const char* name, const Function& function) {
  constexpr std::uint32_t most = 4096;
  std::uint32_t count = 0;
  std::uint32_t code = function(&count, nullptr);
  if (code != abi::success) return amdsmi.fault(name, code);
  if (count > most) return Fault{FaultKind::malformed, std::string(name) + " tells of " + std::to_string(count) + " handles"};
  std::vector<Handle> found(count);
  if (count > 0) code = function(&count, found.data());
  if (code != abi::success) return amdsmi.fault(name, code);
  found.resize(std::min<std::size_t>(count, found.size()));
  return found;
}

}  // namespace

std::vector<FoundCounter> find_amdsmi(const std::string& library, TimeSource& time) {
  CounterDescription description;
  description.kind = CounterKind::amdsmi;
  description.name = "amdsmi";
  description.scope = CounterScope::gpu_board;
  description.includes = {"the whole board, as its firmware counts"};
  const auto only = [&](const Fault& fault) {
    std::vector<FoundCounter> found;
    found.push_back({description, fault});
    return found;
  };
  const auto opened = SharedLibrary::open(library.empty() ? "libamd_smi.so" : library);
  if (!opened) {
    if (!library.empty()) throw Error(ErrorCode::unavailable, opened.fault().reason, "amdsmi library");
    return only(opened.fault());
  }
  const Measured<std::shared_ptr<const Amdsmi>> started = Amdsmi::open(opened.value());
  if (!started) return only(started.fault());
  const std::shared_ptr<const Amdsmi>& amdsmi = started.value();
  const auto sockets = handles<abi::Socket>(*amdsmi, "amdsmi_get_socket_handles", amdsmi->get_sockets);
  if (!sockets) return only(sockets.fault());
  std::vector<FoundCounter> found;
  for (const abi::Socket socket : sockets.value()) {
    const auto of_socket = [&](std::uint32_t* count, abi::Processor* into) {
      return amdsmi->get_processors(socket, count, into);
    };
    const auto processors = handles<abi::Processor>(*amdsmi, "amdsmi_get_processor_handles", of_socket);
    if (!processors) {
      found.push_back({description, processors.fault()});
      continue;
    }
    for (const abi::Processor processor : processors.value()) {
      found.push_back(open_processor(amdsmi, processor, description, time));
    }
  }
  if (found.empty()) return only({FaultKind::not_present, "the driver knows of no GPU"});
  return found;
}

}  // namespace joulegrid
