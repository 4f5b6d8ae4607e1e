#include "joulegrid/counter/perf.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "joulegrid/base/quote.h"
#include "joulegrid/counter/continuity.h"
#include "joulegrid/counter/ratio.h"
#include "joulegrid/counter/small_file.h"

namespace joulegrid {

namespace {

namespace fs = std::filesystem;

class KernelPerfEvents final : public PerfEvents {
 public:
  int open(std::uint32_t type, std::uint64_t config, int cpu) override {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = type;
    attributes.config = config;
    constexpr int any_process = -1;
    constexpr int no_group = -1;
    const long descriptor = syscall(SYS_perf_event_open, &attributes, any_process, cpu, no_group, PERF_FLAG_FD_CLOEXEC);
    return descriptor < 0 ? -errno : static_cast<int>(descriptor);
  }

  std::optional<std::uint64_t> read(int descriptor) override {
    std::uint64_t count = 0;
    if (::read(descriptor, &count, sizeof(count)) != static_cast<ssize_t>(sizeof(count))) return std::nullopt;
    return count;
  }

  void close(int descriptor) override { ::close(descriptor); }
};

/// An event of the unit: what its files say.
struct Event {
  std::uint64_t config = 0;
  Ratio microjoules;  ///< of one count
  std::string scale;
};

/// "event=0x02", possibly with "umask=0x01" behind a comma; other terms are not known here.
std::optional<std::uint64_t> parse_config(std::string_view text) {
  std::uint64_t config = 0;
  bool any = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view term = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const unsigned shift = term.starts_with("umask=") ? 8 : 0;
    if (!term.starts_with("event=") && shift == 0) return std::nullopt;
    term.remove_prefix(6);
    const bool hexadecimal = term.starts_with("0x");
    if (hexadecimal) term.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [last, error] = std::from_chars(term.data(), term.data() + term.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || last != term.data() + term.size() || value > 0xFF) return std::nullopt;
    config |= value << shift;
    any = true;
  }
  return any ? std::optional(config) : std::nullopt;
}

/// "0,28" or "0-3,8": numbers, at most 4096 of them.
std::optional<std::vector<int>> parse_cpus(std::string_view text) {
  constexpr int most = 4096;
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto number = [](std::string_view digits) -> std::optional<int> {
      int value = 0;
      const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || last != digits.data() + digits.size() || value < 0) return std::nullopt;
      return value;
    };
    const std::size_t dash = part.find('-');
    const std::optional<int> first = number(part.substr(0, dash));
    const std::optional<int> last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= most - static_cast<int>(cpus.size())) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus.empty() ? std::nullopt : std::optional(cpus);
}

Measured<Event> read_event(const fs::path& unit, const std::string& name) {
  constexpr int microjoules_per_joule = 6;  // power of ten
  const fs::path file = unit / "events" / name;
  const Measured<std::string> config = read_small_file(file);
  if (!config) return config.fault();
  const Measured<std::string> scale = read_small_file(file.string() + ".scale");
  if (!scale) return scale.fault();
  const Measured<std::string> joules = read_small_file(file.string() + ".unit");
  if (!joules) return joules.fault();
  const std::optional<std::uint64_t> parsed = parse_config(config.value());
  if (!parsed) return Fault{FaultKind::malformed, name + ": cannot read the event " + in_quotes(config.value())};
  const std::optional<Ratio> ratio = parse_ratio(scale.value(), microjoules_per_joule);
  if (!ratio) return Fault{FaultKind::malformed, name + ": cannot read the scale " + in_quotes(scale.value())};
  if (joules.value() != "Joules") {
    return Fault{FaultKind::malformed, name + ": the unit is " + in_quotes(joules.value()) + ", expected 'Joules'"};
  }
  return Event{*parsed, *ratio, scale.value()};
}

class PerfCounter final : public EnergyCounter {
 public:
  struct Open {
    int descriptor;
    Ratio microjoules;
  };

  PerfCounter(std::shared_ptr<PerfEvents> events, CounterDescription description, TimeSource& time)
      : events_(std::move(events)), description_(std::move(description)), time_(time) {}
  ~PerfCounter() override {
    for (const Open& open : open_) events_->close(open.descriptor);
  }
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;

  void add(Open open) { open_.push_back(open); }

  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    return continuity_.accept(timed_reading(time_, [&]() -> Measured<Microjoules> {
      Microjoules sum;
      for (const Open& open : open_) {
        const std::optional<std::uint64_t> count = events_->read(open.descriptor);
        if (!count) return Fault{FaultKind::device_lost, "the event cannot be read any more"};
        const std::optional<Microjoules> energy = scaled(*count, open.microjoules);
        if (!energy) return Fault{FaultKind::malformed, "the counter's value does not fit 128 bits"};
        sum += *energy;
      }
      return sum;
    }));
  }

 private:
  std::shared_ptr<PerfEvents> events_;
  CounterDescription description_;
  TimeSource& time_;
  Continuity continuity_;
  std::vector<Open> open_;
};

Fault refused(const std::string& event, int error) {
  const std::string reason = event + ": " + std::generic_category().message(error);
  if (error != EACCES && error != EPERM) {
    const bool absent = error == ENODEV || error == ENOENT || error == EOPNOTSUPP || error == ENOSYS;
    return {absent ? FaultKind::not_supported : FaultKind::source_error, reason};
  }
  const Measured<std::uint64_t> paranoid = read_number_file("/proc/sys/kernel/perf_event_paranoid");
  return {FaultKind::no_permission,
          reason +
              (paranoid ? "; kernel.perf_event_paranoid is " + std::to_string(paranoid.value()) + ", 0 or less would let you"
                        : std::string("; kernel.perf_event_paranoid forbids it")) +
              ", or root and the capability CAP_PERFMON do"};
}

FoundCounter open_events(const fs::path& unit, const std::vector<std::string>& names, CounterDescription description,
                         const std::shared_ptr<PerfEvents>& events, TimeSource& time) {
  const Measured<std::uint64_t> type = read_number_file(unit / "type");
  if (!type) return {description, type.fault()};
  if (type.value() > 0xFFFF'FFFF) return {description, Fault{FaultKind::malformed, "the unit's type is too large"}};
  const Measured<std::string> mask = read_small_file(unit / "cpumask");
  if (!mask) return {description, mask.fault()};
  const std::optional<std::vector<int>> cpus = parse_cpus(mask.value());
  if (!cpus) return {description, Fault{FaultKind::malformed, "cannot read the cpumask " + in_quotes(mask.value())}};
  std::vector<Event> found;
  for (const std::string& name : names) {
    const Measured<Event> event = read_event(unit, name);
    if (!event) return {description, event.fault()};
    found.push_back(event.value());
    description.includes.push_back(name + " on " + std::to_string(cpus->size()) +
                                   (cpus->size() == 1 ? " package" : " packages or dies"));
  }
  description.unit = found.front().scale + " J";
  auto counter = std::make_unique<PerfCounter>(events, description, time);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const int cpu : *cpus) {
      const int descriptor = events->open(static_cast<std::uint32_t>(type.value()), found[i].config, cpu);
      if (descriptor < 0) return {description, refused(names[i], -descriptor)};
      counter->add({descriptor, found[i].microjoules});
    }
  }
  if (const Measured<Reading> first = counter->read(); !first) return {description, first.fault()};
  return {description, std::unique_ptr<EnergyCounter>(std::move(counter))};
}

}  // namespace

std::shared_ptr<PerfEvents> kernel_perf_events() { return std::make_shared<KernelPerfEvents>(); }

std::vector<FoundCounter> find_perf(const fs::path& event_sources, const std::shared_ptr<PerfEvents>& events,
                                    TimeSource& time) {
  const fs::path unit = event_sources / "power";
  const auto description = [](const char* what, CounterScope scope) {
    CounterDescription result;
    result.kind = CounterKind::perf;
    result.name = std::string("perf") + what;
    result.scope = scope;
    return result;
  };
  std::vector<FoundCounter> found;
  std::error_code ignored;
  if (!fs::is_directory(unit, ignored)) {
    found.push_back(
        {description("", CounterScope::cpu_package),
         Fault{FaultKind::not_present,
               "the kernel has no performance unit 'power'; virtual machines have none, others need the module rapl"}});
    return found;
  }
  found.push_back(open_events(unit, {"energy-pkg"}, description(":package", CounterScope::cpu_package), events, time));
  const auto exists = [&](const char* name) { return fs::exists(unit / "events" / name, ignored); };
  if (exists("energy-ram")) {
    found.push_back(open_events(unit, {"energy-pkg", "energy-ram"},
                                description(":package+dram", CounterScope::package_and_dram), events, time));
  }
  if (exists("energy-psys")) {
    found.push_back(open_events(unit, {"energy-psys"}, description(":psys", CounterScope::platform), events, time));
  }
  return found;
}

}  // namespace joulegrid
