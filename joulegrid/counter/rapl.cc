#include "joulegrid/counter/rapl.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "joulegrid/base/quote.h"
#include "joulegrid/counter/small_file.h"

namespace joulegrid {

namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

/// More than a zone uses: a change that would need more is no change of energy.
constexpr std::uint64_t most_watts_of_zone = 2'000;
constexpr std::uint64_t most_watts_of_platform = 10'000;
/// A counter may show energy that is as old as this, some ticks.
constexpr std::int64_t grace_us = 10'000;

/// A folder of the powercap tree.
struct Zone {
  fs::path folder;
  std::string id;       ///< "intel-rapl:0", "intel-rapl:0:1"
  std::string control;  ///< "intel-rapl", "intel-rapl-mmio"
  std::string name;     ///< "package-0", "package-0-die-1", "dram", "psys"
  std::vector<Zone> parts;

  /// "package-0 dram (intel-rapl:0:1)"
  std::string label;
};

bool is_package(const Zone& zone) { return zone.name.starts_with("package"); }

/// The number of the socket in "package-0-die-1": "package-0".
std::string socket_of(const std::string& name) { return name.substr(0, name.find("-die")); }

bool by_id(const Zone& a, const Zone& b) {
  // Shorter numbers first, so that :2 comes before :10.
  return std::tuple(a.control, a.id.size(), a.id) < std::tuple(b.control, b.id.size(), b.id);
}

/// Zones right below `folder` whose id is "…:n" with `colons` colons, with their name.
std::vector<Zone> zones_in(const fs::path& folder, std::ptrdiff_t colons) {
  std::vector<Zone> zones;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string id = entry->path().filename().string();
    if (std::count(id.begin(), id.end(), ':') != colons) continue;
    const Measured<std::string> name = read_small_file(entry->path() / "name");
    if (!name) continue;  // not a zone
    Zone zone{entry->path(), id, id.substr(0, id.find(':')), printable(name.value()), {}, {}};
    zone.label = zone.name + " (" + id + ")";
    zones.push_back(std::move(zone));
  }
  std::sort(zones.begin(), zones.end(), by_id);
  return zones;
}

/// The top zones with their parts, which stand beside them (as links do in /sys/class) or within them.
std::vector<Zone> all_zones(const fs::path& root) {
  std::vector<Zone> tops = zones_in(root, 1);
  const std::vector<Zone> beside = zones_in(root, 2);
  for (Zone& top : tops) {
    top.parts = zones_in(top.folder, 2);
    for (const Zone& part : beside) {
      const bool known = std::any_of(top.parts.begin(), top.parts.end(), [&](const Zone& p) { return p.id == part.id; });
      if (part.id.starts_with(top.id + ":") && !known) top.parts.push_back(part);
    }
    std::sort(top.parts.begin(), top.parts.end(), by_id);
    for (Zone& part : top.parts) part.label = top.name + " " + part.label;
  }
  return tops;
}

/// One zone's counter, made monotone.
class ZoneCounter {
 public:
  ZoneCounter(const Zone& zone, std::uint64_t range, std::uint64_t most_watts)
      : file_(zone.folder / "energy_uj"), label_(zone.label), range_(range), most_watts_(most_watts) {}

  /// Energy since the first read.
  Measured<Microjoules> read(TimeSource& time) {
    if (broken_) return *broken_;
    const Measured<std::uint64_t> shown = read_number_file(file_);
    const TimeSource::Instant now = time.now();
    if (!shown) return unreadable(shown.fault());
    const std::uint64_t value = shown.value();
    if (value > range_) {
      return Fault{FaultKind::malformed, label_ + ": energy_uj is " + to_string(Wide{value}) +
                                             ", more than max_energy_range_uj, " + to_string(Wide{range_})};
    }
    if (!last_) {
      last_ = value;
    } else {
      const Wide most = most_within(now - at_);
      if (most >= range_) {
        return *(broken_ = Fault{FaultKind::poll_gap, label_ + ": not read for " + seconds(now - at_) +
                                                          " s, in which it may have wrapped more than once"});
      }
      const bool wrapped = value < *last_;
      const std::uint64_t change = wrapped ? value + (range_ - *last_) : value - *last_;
      if (change > most) return *(broken_ = impossible(value, wrapped, most));
      sum_ += Microjoules(change);
      last_ = value;
    }
    at_ = now;
    return sum_;
  }

  /// As long as most_within stays below the range.
  nanoseconds longest_gap() const {
    return std::chrono::microseconds(static_cast<std::int64_t>((range_ - 1) / most_watts_) - grace_us);
  }

 private:
  /// Microjoules that the zone may have used, those of the grace included.
  Wide most_within(nanoseconds elapsed) const {
    return checked_mul(static_cast<Wide>(std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count() + grace_us),
                       most_watts_);
  }

  static std::string seconds(nanoseconds duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
  }

  Fault unreadable(const Fault& fault) {
    if (fault.kind == FaultKind::no_permission) {
      return {fault.kind, label_ + ": " + fault.reason +
                              "; kernels let only root read it, scripts/enable_counters.sh --print shows what to do"};
    }
    if (fault.kind == FaultKind::not_present && last_) {
      return *(broken_ = Fault{FaultKind::device_lost, label_ + ": " + fault.reason});
    }
    return {fault.kind, label_ + ": " + fault.reason};
  }

  Fault impossible(std::uint64_t value, bool wrapped, Wide most) const {
    const std::string what = label_ + ": energy_uj went from " + to_string(Wide{*last_}) + " to " + to_string(Wide{value});
    if (!wrapped) return {FaultKind::malformed, what + ", more than " + to_string(Wide{most_watts_}) + " W would use"};
    if (value <= most) return {FaultKind::reset, what + ": the counter began anew"};
    return {FaultKind::went_backwards, what + ", which is not a wrap either"};
  }

  fs::path file_;
  std::string label_;
  std::uint64_t range_;
  std::uint64_t most_watts_;
  std::optional<std::uint64_t> last_;
  TimeSource::Instant at_;
  Microjoules sum_;
  std::optional<Fault> broken_;
};

class RaplCounter final : public EnergyCounter {
 public:
  RaplCounter(std::vector<ZoneCounter> zones, CounterDescription description, TimeSource& time)
      : zones_(std::move(zones)), description_(std::move(description)), time_(time) {}

  const CounterDescription& describe() const override { return description_; }

  /// The sum of the zones; all of them are read even where one fails, so that none misses a wrap.
  Measured<Reading> read() override {
    const TimeSource::Instant before = time_.now();
    Microjoules sum;
    std::optional<Fault> fault;
    for (ZoneCounter& zone : zones_) {
      const Measured<Microjoules> energy = zone.read(time_);
      if (energy) {
        sum += energy.value();
      } else if (!fault) {
        fault = energy.fault();
      }
    }
    if (fault) return *fault;
    const TimeSource::Instant after = time_.now();
    return Reading{sum, before + (after - before) / 2, after - before};
  }

 private:
  std::vector<ZoneCounter> zones_;
  CounterDescription description_;
  TimeSource& time_;
};

/// Why a zone that is switched off cannot be counted, if so; one that counts all the same can.
std::optional<Fault> switched_off(const Zone& zone, TimeSource& time) {
  constexpr int tries = 20;
  constexpr nanoseconds pause = std::chrono::milliseconds(5);
  const Measured<std::uint64_t> enabled = read_number_file(zone.folder / "enabled");
  if (!enabled || enabled.value() != 0) return std::nullopt;  // a tree without the file cannot switch off
  const Measured<std::uint64_t> first = read_number_file(zone.folder / "energy_uj");
  for (int i = 0; i < tries; ++i) {
    time.sleep_for(pause);
    const Measured<std::uint64_t> next = read_number_file(zone.folder / "energy_uj");
    if (!first || !next || first.value() != next.value()) return std::nullopt;  // reading it says the rest
  }
  return Fault{FaultKind::zone_disabled, zone.label + ": the zone is disabled and its counter stands still"};
}

/// Whether both zones show one counter: b read between two reads of a lies between these.
bool mirrors(const Zone& a, const Zone& b) {
  const Measured<std::uint64_t> first = read_number_file(a.folder / "energy_uj");
  const Measured<std::uint64_t> between = read_number_file(b.folder / "energy_uj");
  const Measured<std::uint64_t> last = read_number_file(a.folder / "energy_uj");
  return first && between && last && first.value() <= between.value() && between.value() <= last.value();
}

/// A zone to count, with the socket that it belongs to.
struct Counted {
  Zone zone;
  std::string socket;
};

/// The zones without those of a socket that show a counter of the same socket once more; these are told of in `notes`.
std::vector<Counted> without_mirrors(const std::vector<Counted>& zones, std::vector<std::string>& notes) {
  std::vector<Counted> kept;
  for (const Counted& candidate : zones) {
    const auto original = std::find_if(kept.begin(), kept.end(), [&](const Counted& other) {
      return other.socket == candidate.socket && mirrors(other.zone, candidate.zone);
    });
    if (original == kept.end()) {
      kept.push_back(candidate);
    } else {
      notes.push_back(candidate.zone.label + " shows the counter of " + original->zone.label + " and is not counted again");
    }
  }
  return kept;
}

/// What the package zone contains already: its parts but the memory.
std::string contents(const Zone& zone) {
  std::string parts;
  for (const Zone& part : zone.parts) {
    if (part.name != "dram") parts += (parts.empty() ? "" : ", ") + part.name;
  }
  return zone.label + (parts.empty() ? "" : ", which contains " + parts);
}

FoundCounter open_zones(const std::vector<Zone>& zones, CounterDescription description, std::uint64_t most_watts,
                        TimeSource& time) {
  std::vector<ZoneCounter> counters;
  for (const Zone& zone : zones) {
    if (std::optional<Fault> fault = switched_off(zone, time)) return {description, *fault};
    const Measured<std::uint64_t> range = read_number_file(zone.folder / "max_energy_range_uj");
    if (!range) return {description, Fault{range.fault().kind, zone.label + ": " + range.fault().reason}};
    // Below, it wraps faster than it can be polled; above, the gap does not fit nanoseconds.
    const std::uint64_t least = 2 * most_watts * static_cast<std::uint64_t>(grace_us);
    if (range.value() < least || range.value() > std::uint64_t{1} << 62U) {
      return {description, Fault{FaultKind::malformed, zone.label + ": max_energy_range_uj is " +
                                                           to_string(Wide{range.value()}) + ", which cannot be"}};
    }
    counters.emplace_back(zone, range.value(), most_watts);
    const nanoseconds gap = counters.back().longest_gap();
    description.longest_gap = std::min(description.longest_gap.value_or(gap), gap);
  }
  auto counter = std::make_unique<RaplCounter>(std::move(counters), description, time);
  if (const Measured<Reading> first = counter->read(); !first) return {description, first.fault()};
  return {description, std::unique_ptr<EnergyCounter>(std::move(counter))};
}

/// Packages of several control types are one package each: the first type's counts.
std::vector<Zone> distinct_packages(const std::vector<Zone>& tops, std::vector<std::string>& notes) {
  std::vector<Zone> packages;
  for (const Zone& top : tops) {
    if (!is_package(top)) continue;
    const auto same = std::find_if(packages.begin(), packages.end(),
                                   [&](const Zone& other) { return other.name == top.name && other.control != top.control; });
    if (same == packages.end()) {
      packages.push_back(top);
    } else {
      notes.push_back(top.label + " is " + same->label + " once more and is not counted again");
    }
  }
  return packages;
}

CounterDescription rapl_description(const char* what, CounterScope scope) {
  CounterDescription description;
  description.kind = CounterKind::rapl;
  description.name = std::string("rapl") + what;
  description.scope = scope;
  description.unit = "1 µJ";
  return description;
}

std::vector<Zone> zones_of(const std::vector<Counted>& counted) {
  std::vector<Zone> zones;
  for (const Counted& one : counted) zones.push_back(one.zone);
  return zones;
}

}  // namespace

std::vector<FoundCounter> find_rapl(const fs::path& root, TimeSource& time) {
  std::error_code ignored;
  if (!root.empty() && !fs::is_directory(root, ignored)) {
    throw Error(ErrorCode::unavailable, "there is no folder " + in_quotes(root.string(), 200), "powercap root");
  }
  const fs::path folder = root.empty() ? fs::path("/sys/class/powercap") : root;
  const std::vector<Zone> tops = all_zones(folder);
  std::vector<FoundCounter> found;

  CounterDescription of_packages = rapl_description(":package", CounterScope::cpu_package);
  const std::vector<Zone> packages = distinct_packages(tops, of_packages.notes);
  if (packages.empty()) {
    found.push_back({rapl_description("", CounterScope::cpu_package),
                     Fault{FaultKind::not_present, "no package zone below " + printable(folder.string()) +
                                                       "; virtual machines have none, others need the module intel_rapl_msr"}});
  } else {
    std::vector<Counted> counted;
    for (const Zone& package : packages) counted.push_back({package, socket_of(package.name)});
    counted = without_mirrors(counted, of_packages.notes);
    for (const Counted& one : counted) of_packages.includes.push_back(contents(one.zone));

    CounterDescription with_dram = of_packages;
    with_dram.name = "rapl:package+dram";
    with_dram.scope = CounterScope::package_and_dram;
    std::vector<Counted> drams;
    std::set<std::string> sockets_with_dram;
    for (const Zone& package : packages) {
      for (const Zone& part : package.parts) {
        if (part.name != "dram") continue;
        drams.push_back({part, socket_of(package.name)});
        sockets_with_dram.insert(socket_of(package.name));
      }
    }
    drams = without_mirrors(drams, with_dram.notes);
    found.push_back(open_zones(zones_of(counted), of_packages, most_watts_of_zone, time));
    if (!drams.empty()) {
      const auto lacking = std::find_if(packages.begin(), packages.end(), [&](const Zone& package) {
        return !sockets_with_dram.contains(socket_of(package.name));
      });
      if (lacking != packages.end()) {
        found.push_back({with_dram, Fault{FaultKind::not_present, lacking->label + " has no dram zone, others have"}});
      } else {
        std::vector<Zone> all = zones_of(counted);
        for (const Counted& dram : drams) {
          all.push_back(dram.zone);
          with_dram.includes.push_back(dram.zone.label);
        }
        found.push_back(open_zones(all, with_dram, most_watts_of_zone, time));
      }
    }
  }
  for (const Zone& top : tops) {
    if (top.name != "psys") continue;
    CounterDescription description = rapl_description(":psys", CounterScope::platform);
    description.includes = {top.label + ", which contains the packages and whatever else its firmware counts"};
    found.push_back(open_zones({top}, description, most_watts_of_platform, time));
    break;
  }
  return found;
}

}  // namespace joulegrid
