#include "joulegrid/counter/recording.h"

#include <limits>
#include <optional>
#include <utility>

#include "joulegrid/base/json.h"

namespace joulegrid {

namespace {

constexpr const char* title = "joulegrid energy counter";
constexpr std::uint64_t schema_version = 1;

std::int64_t nanoseconds_of(TimeSource::Instant instant) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(instant.time_since_epoch()).count();
}

Json fault_json(const Fault& fault) {
  Json json;
  json["fault"] = fault_name(fault.kind);
  json["reason"] = fault.reason;
  return json;
}

template <typename T>
Json measured_json(const Measured<T>& measured) {
  return measured ? Json(measured.value()) : fault_json(measured.fault());
}

Json description_json(const CounterDescription& description) {
  Json json;
  json["kind"] = kind_name(description.kind);
  json["name"] = description.name;
  json["scope"] = scope_name(description.scope);
  json["includes"] = description.includes;
  json["unit"] = description.unit;
  json["uuid"] = description.device.uuid;
  json["pci"] = description.device.pci ? Json(to_string(*description.device.pci)) : Json(nullptr);
  json["device_name"] = description.device.name;
  json["driver"] = description.driver;
  json["longest_gap_ns"] = description.longest_gap ? Json(std::int64_t{description.longest_gap->count()}) : Json(nullptr);
  json["notes"] = description.notes;
  return json;
}

Json reading_json(const Measured<Reading>& reading) {
  if (!reading) return fault_json(reading.fault());
  Json json;
  json["t_ns"] = nanoseconds_of(reading.value().at);
  json["took_ns"] = std::int64_t{reading.value().took.count()};
  json["energy_uJ"] = reading.value().energy.count();
  return json;
}

Json sample_json(const TelemetrySample& sample) {
  Json json;
  json["t_ns"] = nanoseconds_of(sample.at);
  json["power_mW"] = measured_json(sample.power_mw);
  json["power_is_average"] = sample.power_is_average;
  json["power_limit_mW"] = measured_json(sample.power_limit_mw);
  json["temperature_C"] = measured_json(sample.temperature_c);
  json["graphics_clock_MHz"] = measured_json(sample.graphics_clock_mhz);
  json["sm_clock_MHz"] = measured_json(sample.sm_clock_mhz);
  json["memory_clock_MHz"] = measured_json(sample.memory_clock_mhz);
  json["clock_events"] = sample.clock_events ? Json(sample.clock_events.value().bits) : fault_json(sample.clock_events.fault());
  if (sample.processes) {
    Json& processes = json["processes"] = Json::array();
    for (const ComputeProcess& process : sample.processes.value()) {
      Json entry;
      entry["pid"] = process.pid;
      entry["memory_bytes"] = process.memory_bytes;
      processes.push_back(std::move(entry));
    }
  } else {
    json["processes"] = fault_json(sample.processes.fault());
  }
  json["counter"] = reading_json(sample.counter);
  json["busy_us"] = measured_json(sample.busy_us);
  json["own_us"] = measured_json(sample.own_us);
  return json;
}

/// The document as one line; what is not UTF-8 in a device's texts is replaced.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <typename T>
T whole_number(const Json& value, const std::string& where) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<Wide>();
    if (number <= static_cast<Wide>(std::numeric_limits<T>::max())) return static_cast<T>(number);
  } else if (std::is_signed_v<T> && value.is_number_integer()) {
    const auto number = value.get<Json::number_integer_t>();
    if (number >= std::numeric_limits<T>::min() && number <= std::numeric_limits<T>::max()) return static_cast<T>(number);
  }
  throw Error(ErrorCode::bad_input, "expected a whole number, found " + json_in_quotes(value), where);
}

std::string text_of(const Json& value, const std::string& where) {
  if (!value.is_string()) throw Error(ErrorCode::bad_input, "expected a text, found " + json_in_quotes(value), where);
  return value.get<std::string>();
}

std::vector<std::string> texts_of(const Json& value, const std::string& where) {
  if (!value.is_array()) throw Error(ErrorCode::bad_input, "expected a list, found " + json_in_quotes(value), where);
  std::vector<std::string> texts;
  for (const Json& text : value) texts.push_back(text_of(text, where));
  return texts;
}

TimeSource::Instant instant_of(const Json& value, const std::string& where) {
  constexpr std::int64_t most = std::int64_t{1} << 58U;  // nine years: differences and many ticks fit
  const auto number = whole_number<std::int64_t>(value, where);
  if (number < -most || number > most) throw Error(ErrorCode::bad_input, "no clock shows " + json_in_quotes(value), where);
  return TimeSource::Instant(std::chrono::nanoseconds(number));
}

Fault fault_of(const Json& value, const std::string& where) {
  return {parse_fault_name(text_of(json_member(value, "fault", where), where), where),
          text_of(json_member(value, "reason", where), where)};
}

template <typename T>
Measured<T> measured_of(const Json& value, const std::string& where) {
  if (value.is_object()) return fault_of(value, where);
  return whole_number<T>(value, where);
}

CounterDescription description_of(const Json& json, const std::string& where) {
  const auto text = [&](const char* key) { return text_of(json_member(json, key, where), where); };
  CounterDescription description;
  description.kind = parse_kind_name(text("kind"), where);
  description.name = text("name");
  description.scope = parse_scope_name(text("scope"), where);
  description.includes = texts_of(json_member(json, "includes", where), where);
  description.unit = text("unit");
  description.device.uuid = text("uuid");
  if (!json_member(json, "pci", where).is_null()) {
    description.device.pci = parse_pci_address(text("pci"));
    if (!description.device.pci) throw Error(ErrorCode::bad_input, "expected a PCI address", where);
  }
  description.device.name = text("device_name");
  description.driver = text("driver");
  if (const Json& gap = json_member(json, "longest_gap_ns", where); !gap.is_null()) {
    description.longest_gap = std::chrono::nanoseconds(whole_number<std::int64_t>(gap, where));
  }
  description.notes = texts_of(json_member(json, "notes", where), where);
  return description;
}

Measured<Reading> reading_of(const Json& json, const std::string& where) {
  if (json.is_object() && json.contains("fault")) return fault_of(json, where);
  const Json& energy = json_member(json, "energy_uJ", where);
  if (!energy.is_number_unsigned()) {
    throw Error(ErrorCode::bad_input, "expected a whole number, found " + json_in_quotes(energy), where);
  }
  const auto took = whole_number<std::int64_t>(json_member(json, "took_ns", where), where);
  return Reading{Microjoules(energy.get<Wide>()), instant_of(json_member(json, "t_ns", where), where),
                 std::chrono::nanoseconds(took)};
}

TelemetrySample sample_of(const Json& json, const std::string& where) {
  const auto number = [&](const char* key) { return measured_of<std::uint64_t>(json_member(json, key, where), where); };
  TelemetrySample sample = TelemetrySample::missing(instant_of(json_member(json, "t_ns", where), where), {});
  sample.power_mw = number("power_mW");
  const Json& average = json_member(json, "power_is_average", where);
  if (!average.is_boolean()) throw Error(ErrorCode::bad_input, "expected true or false", where);
  sample.power_is_average = average.get<bool>();
  sample.power_limit_mw = number("power_limit_mW");
  sample.temperature_c = measured_of<std::int64_t>(json_member(json, "temperature_C", where), where);
  sample.graphics_clock_mhz = number("graphics_clock_MHz");
  sample.sm_clock_mhz = number("sm_clock_MHz");
  sample.memory_clock_mhz = number("memory_clock_MHz");
  const Measured<std::uint64_t> events = number("clock_events");
  sample.clock_events = events ? Measured<ClockEvents>(ClockEvents{events.value()}) : Measured<ClockEvents>(events.fault());
  const Json& processes = json_member(json, "processes", where);
  if (processes.is_object()) {
    sample.processes = fault_of(processes, where);
  } else {
    if (!processes.is_array()) throw Error(ErrorCode::bad_input, "expected a list of processes", where);
    std::vector<ComputeProcess> list;
    for (const Json& process : processes) {
      list.push_back({whole_number<std::uint32_t>(json_member(process, "pid", where), where),
                      whole_number<std::uint64_t>(json_member(process, "memory_bytes", where), where)});
    }
    sample.processes = std::move(list);
  }
  sample.counter = reading_of(json_member(json, "counter", where), where);
  sample.busy_us = number("busy_us");
  sample.own_us = number("own_us");
  return sample;
}

Json parse_line(std::string_view line, const std::string& where) {
  Json json;
  try {
    json = parse_json(line, where);
  } catch (const Error&) {
    throw Error(ErrorCode::bad_input, "not a line of a recording", where);
  }
  if (!json.is_object()) throw Error(ErrorCode::bad_input, "not a line of a recording", where);
  return json;
}

/// The first line: what was recorded.
CounterDescription head_of(std::string_view line, const std::string& where) {
  const Json json = parse_line(line, where);
  const Json& named = json_member(json, "recording", where);
  if (!named.is_string() || named.get<std::string>() != title) {
    throw Error(ErrorCode::bad_input, "this is not the recording of an energy counter", where);
  }
  if (whole_number<std::uint64_t>(json_member(json, "schema_version", where), where) != schema_version) {
    throw Error(ErrorCode::bad_input, "the recording has a schema_version other than 1", where);
  }
  return description_of(json_member(json, "counter", where), where);
}

/// Any further line.
void add_line(Recording& recording, std::string_view line, std::uint64_t number, const std::string& where) {
  const Json json = parse_line(line, where);
  if (const auto reading = json.find("reading"); reading != json.end()) {
    recording.readings.push_back(reading_of(*reading, where));
    recording.reading_lines.push_back(number);
  } else if (const auto sample = json.find("telemetry"); sample != json.end()) {
    recording.samples.push_back(sample_of(*sample, where));
    recording.sample_lines.push_back(number);
  } else if (const auto totals = json.find("end"); totals != json.end()) {
    const auto total = [&](const char* key) { return whole_number<std::uint64_t>(json_member(*totals, key, where), where); };
    if (total("readings") != recording.readings.size() || total("telemetry") != recording.samples.size()) {
      throw Error(ErrorCode::bad_input, "the recording has not as many lines as its end says", where);
    }
    recording.complete = true;
  } else {
    recording.others.push_back({std::string(line), where, number});
  }
}

/// Whether time goes on from line to line, of readings and of samples each for themselves.
class Order {
 public:
  /// After every line.
  void require(const Recording& recording, const std::string& where) {
    if (recording.readings.size() > readings_) {
      readings_ = recording.readings.size();
      advance(reading_, recording.readings.back(), where);
    }
    if (recording.samples.size() > samples_) {
      samples_ = recording.samples.size();
      advance(sample_, recording.samples.back().at, where);
      advance(counter_, recording.samples.back().counter, where);
    }
  }

 private:
  using Last = std::optional<TimeSource::Instant>;

  static void advance(Last& last, TimeSource::Instant at, const std::string& where) {
    if (last && at < *last) throw Error(ErrorCode::bad_input, "this was recorded before the line before it", where);
    last = at;
  }
  static void advance(Last& last, const Measured<Reading>& reading, const std::string& where) {
    if (reading) advance(last, reading.value().at, where);
  }

  std::size_t readings_ = 0, samples_ = 0;
  Last reading_, sample_, counter_;
};

class ReplayCounter final : public EnergyCounter {
 public:
  explicit ReplayCounter(Recording recording) : recording_(std::move(recording)), description_(recording_.counter) {
    description_.kind = CounterKind::replay;
  }

  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    if (next_reading_ == recording_.readings.size()) return recording_.ended("reading");
    return recording_.readings[next_reading_++];
  }

  TelemetrySample telemetry() override {
    if (next_sample_ == recording_.samples.size()) {
      const TimeSource::Instant last = recording_.samples.empty() ? TimeSource::Instant{} : recording_.samples.back().at;
      return TelemetrySample::missing(last, recording_.ended("telemetry"));
    }
    return recording_.samples[next_sample_++];
  }

 private:
  Recording recording_;
  CounterDescription description_;
  std::size_t next_reading_ = 0;
  std::size_t next_sample_ = 0;
};

}  // namespace

Recorder::Recorder(ByteSink& sink, const CounterDescription& description) : sink_(sink) {
  Json json;
  json["recording"] = title;
  json["schema_version"] = schema_version;
  json["counter"] = description_json(description);
  write(line_of(json));
}

void Recorder::reading(const Measured<Reading>& reading) {
  Json json;
  json["reading"] = reading_json(reading);
  const std::lock_guard lock(mutex_);
  write(line_of(json));
  ++readings_;
}

void Recorder::telemetry(const TelemetrySample& sample) {
  Json json;
  json["telemetry"] = sample_json(sample);
  const std::lock_guard lock(mutex_);
  write(line_of(json));
  ++samples_;
}

void Recorder::other(std::string_view line) {
  const Json json = parse_json(line, "recording");
  check(json.is_object() && !json.contains("reading") && !json.contains("telemetry") && !json.contains("end"),
        "another line of a recording has keys of its own");
  const std::lock_guard lock(mutex_);
  write(line_of(json));
}

void Recorder::end() {
  const std::lock_guard lock(mutex_);
  Json json;
  json["end"]["readings"] = readings_;
  json["end"]["telemetry"] = samples_;
  write(line_of(json));
}

void Recorder::write(std::string line) {
  line += '\n';
  sink_.write(line);
}

Fault Recording::ended(const std::string& what) const {
  if (complete) return {FaultKind::recording_ended, "the recording has no further " + what};
  return {FaultKind::recording_truncated, "the recording is truncated and has no further " + what};
}

Recording read_recording(std::string_view text, const std::string& source) {
  Recording recording;
  Order order;
  if (text.empty()) throw Error(ErrorCode::bad_input, "the recording is empty", source);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string where = source + ":" + std::to_string(number);
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    if (recording.complete) throw Error(ErrorCode::bad_input, "the recording goes on after its end", where);
    if (number == 1) {
      recording.counter = head_of(line, where);
    } else if (whole) {  // within the last one its writer may have been stopped
      add_line(recording, line, number, where);
      order.require(recording, where);
    }
  }
  return recording;
}

std::unique_ptr<EnergyCounter> replay(Recording recording) { return std::make_unique<ReplayCounter>(std::move(recording)); }

Recording read_recording_file(const std::filesystem::path& file) {
  constexpr std::size_t largest = std::size_t{4} << 30;  // some days, at up to 10 kB a second
  return read_recording(read_file(file, largest), file.string());
}

}  // namespace joulegrid
