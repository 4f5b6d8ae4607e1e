#include <chrono>
#include <cmath>
#include <ctime>

#include "joulegrid/base/json.h"
#include "joulegrid/report/energy_report.h"

namespace joulegrid {

namespace {

constexpr std::uint64_t energy_schema_version = 1;

using Instant = TimeSource::Instant;

double seconds_of(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

Json fault_json(const Fault& fault) {
  Json json;
  json["fault"] = fault_name(fault.kind);
  json["text"] = fault.reason;
  return json;
}

Json number(const Measured<double>& value) { return value ? Json(value.value()) : Json(nullptr); }

/// A JSON object, or null for an empty text.
Json object(const std::string& text, const char* what) { return text.empty() ? Json(nullptr) : parse_json(text, what); }

Json flags_json(const std::vector<Flag>& flags) {
  Json list = Json::array();
  for (const Flag& flag : flags) {
    Json entry;
    entry["flag"] = flag_name(flag.kind);
    entry["text"] = flag.text;
    list.push_back(std::move(entry));
  }
  return list;
}

/// The word for the counter's scope in the names of keys.
const char* scope_word(CounterScope scope) {
  switch (scope) {
    case CounterScope::gpu_board: return "board";
    case CounterScope::cpu_package: return "package";
    case CounterScope::package_and_dram: return "package_and_dram";
    case CounterScope::platform: return "platform";
    case CounterScope::nothing: return "board";  // the published report's names, with null
  }
  check(false, "every scope has a word");
  return "";
}

Json reported_quantity(CounterScope scope) {
  if (scope == CounterScope::nothing) return nullptr;
  return std::string(scope_name(scope)) + " energy above paired loaded-idle baseline";
}

Json scope_text(CounterScope scope) {
  switch (scope) {
    case CounterScope::gpu_board: return "GPU board including HBM; excludes host and facility";
    case CounterScope::cpu_package: return "CPU packages; excludes memory, other devices and facility";
    case CounterScope::package_and_dram: return "CPU packages and their memory; excludes other devices and facility";
    case CounterScope::platform: return "platform as its firmware counts it; excludes facility";
    case CounterScope::nothing: return nullptr;
  }
  check(false, "every scope has a text");
  return nullptr;
}

Json counter_source(CounterKind kind) {
  switch (kind) {
    case CounterKind::nvml: return "nvmlDeviceGetTotalEnergyConsumption";
    case CounterKind::rapl: return "powercap energy_uj";
    case CounterKind::perf: return "perf_event power unit";
    case CounterKind::amdsmi: return "amdsmi_get_energy_count";
    case CounterKind::replay:
    case CounterKind::none: return nullptr;
  }
  check(false, "every kind has a source");
  return nullptr;
}

Json counter_unit(const CounterDescription& counter) {
  if (counter.kind == CounterKind::nvml) return "millijoules";
  if (counter.kind == CounterKind::none) return nullptr;
  return counter.unit;
}

Json counter_json(const Measurement& measurement) {
  constexpr double milliseconds = 1e3;
  const CounterDescription& counter = measurement.counter;
  Json json;
  json["name"] = counter.name;
  json["scope"] = counter.kind == CounterKind::none ? Json(nullptr) : Json(scope_name(counter.scope));
  json["includes"] = counter.includes;
  json["unit"] = counter.kind == CounterKind::none ? Json(nullptr) : Json(counter.unit);
  json["tick_ms"] = nullptr;
  json["resolution_uJ"] = nullptr;
  json["reason"] = nullptr;
  if (measurement.tick) {
    const Tick& tick = measurement.tick.value();
    json["tick_ms"] = Json::object();
    json["tick_ms"]["shortest"] = seconds_of(tick.shortest()) * milliseconds;
    json["tick_ms"]["median"] = seconds_of(tick.median()) * milliseconds;
    json["tick_ms"]["longest"] = seconds_of(tick.longest()) * milliseconds;
    json["resolution_uJ"] = tick.resolution.count();
  } else {
    json["reason"] = fault_json(measurement.tick.fault());
  }
  json["notes"] = counter.notes;
  return json;
}

Json measurement_json(const EnergyReport& report) {
  constexpr int milliseconds_per_second = 1000;
  const Measurement& measurement = report.measurement;
  const MeasurePlan& plan = measurement.plan;
  const CounterDescription& counter = measurement.counter;
  Json json;
  json["authoritative_counter"] = counter_source(counter.kind);
  json["counter_unit"] = counter_unit(counter);
  json["reported_quantity"] = reported_quantity(counter.scope);
  json["scope"] = scope_text(counter.scope);
  json["trials_per_stage"] = plan.trials;
  json["target_seconds_per_trial"] = seconds_of(plan.trial_time);
  json["idle_window_seconds"] = seconds_of(plan.idle_time);
  json[counter.kind == CounterKind::nvml ? "nvidia_smi_supporting_telemetry_interval_ms" : "supporting_telemetry_interval_ms"] =
      seconds_of(plan.sampling_interval) * milliseconds_per_second;
  json["synchronization"] = "device synchronization at aggregate boundaries";
  json["excluded"] = report.subject.excluded;
  json["warm_up_seconds"] = seconds_of(plan.warm_up_time);
  json["settle_seconds"] = seconds_of(plan.settle_time);
  json["seed"] = plan.seed;
  json["counter"] = counter_json(measurement);
  json["uncertainty"] =
      "half a 95 % interval of the mean, from the scatter of the trials and what they share; the counter's calibration is not "
      "in it";
  return json;
}

Json extremes_json(const std::optional<Extremes>& extremes) {
  if (!extremes) return nullptr;
  return Json::array({extremes->least, extremes->most});
}

Json telemetry_json(const TelemetryExtremes& telemetry) {
  Json json;
  json["samples"] = telemetry.samples;
  json["power_W"] = extremes_json(telemetry.power_w);
  json["temperature_C"] = extremes_json(telemetry.temperature_c);
  json["sm_clock_MHz"] = extremes_json(telemetry.sm_clock_mhz);
  json["memory_clock_MHz"] = extremes_json(telemetry.memory_clock_mhz);
  json["clock_events"] = telemetry.clock_events ? Json(to_string(*telemetry.clock_events)) : Json(nullptr);
  return json;
}

/// Everything that a stage's keys and instants depend on.
struct Context {
  const EnergyReport& report;
  std::string word;  ///< of the scope
  Instant origin;    ///< second 0 of the document's instants

  std::string per(const std::string& what) const { return what + "_per_" + report.subject.operation; }
  double at(Instant instant) const { return seconds_of(instant - origin); }
};

Json window_json(const Context& context, const Measured<WindowEnergy>& window) {
  if (!window) return nullptr;
  Json json;
  json["begin_s"] = context.at(window.value().begin);
  json["end_s"] = context.at(window.value().end);
  json["energy_uJ"] = window.value().energy.count();
  json["mean_W"] = window.value().watts();
  return json;
}

/// The samples from a trial's first window to its last, one array for each thing that any of them has.
Json trace_json(const Context& context, const TrialMeasurement& trial) {
  constexpr double per_milli = 1e-3;
  constexpr double joules_per_microjoule = 1e-6;
  const Instant begin = trial.idle_before ? trial.idle_before.value().begin : trial.begin;
  const Instant end = trial.idle_after ? trial.idle_after.value().end
                                       : trial.begin + std::chrono::nanoseconds(std::llround(trial.seconds * 1e9));
  std::vector<const TelemetrySample*> samples;
  for (const TelemetrySample& sample : context.report.measurement.samples) {
    if (sample.at >= begin && sample.at <= end) samples.push_back(&sample);
  }
  if (samples.empty()) return nullptr;
  Json json;
  Json& times = json["t_s"] = Json::array();
  for (const TelemetrySample* sample : samples) times.push_back(context.at(sample->at));
  const auto add = [&](const char* key, const auto& value_of) {
    Json values = Json::array();
    bool any = false;
    for (const TelemetrySample* sample : samples) {
      Json value = value_of(*sample);
      any = any || !value.is_null();
      values.push_back(std::move(value));
    }
    if (any) json[key] = std::move(values);
  };
  add("power_W", [](const TelemetrySample& s) {
    return s.power_mw ? Json(static_cast<double>(s.power_mw.value()) * per_milli) : Json(nullptr);
  });
  std::optional<Wide> first;
  add("counter_J", [&](const TelemetrySample& s) {
    if (!s.counter) return Json(nullptr);
    if (!first) first = s.counter.value().energy.count();
    return Json(static_cast<double>(s.counter.value().energy.count() - *first) * joules_per_microjoule);
  });
  add("temperature_C",
      [](const TelemetrySample& s) { return s.temperature_c ? Json(s.temperature_c.value()) : Json(nullptr); });
  add("sm_clock_MHz", [](const TelemetrySample& s) { return s.sm_clock_mhz ? Json(s.sm_clock_mhz.value()) : Json(nullptr); });
  return json.size() > 1 ? json : Json(nullptr);
}

Json trial_json(const Context& context, const TrialMeasurement& trial) {
  Json json;
  json["trial"] = trial.number;
  json["position"] = trial.position;
  json["repetitions"] = trial.repetitions;
  json["begin_s"] = context.at(trial.begin);
  json["seconds"] = trial.seconds;
  json[context.per("raw_" + context.word + "_energy_J")] = number(trial.raw_j);
  json["idle_baseline_W"] = number(trial.idle_w);
  json[context.per("idle_adjusted_" + context.word + "_energy_J")] = number(trial.adjusted_j);
  json["reason"] = trial.adjusted_j ? Json(nullptr) : fault_json(trial.adjusted_j.fault());
  json["idle_before"] = window_json(context, trial.idle_before);
  json["work_window"] = window_json(context, trial.work_window);
  json["idle_after"] = window_json(context, trial.idle_after);
  json["telemetry"] = telemetry_json(trial.telemetry);
  json["flags"] = flags_json(trial.flags);
  json["details"] = object(trial.details, "details");
  json["trace"] = trace_json(context, trial);
  return json;
}

Json uncertainty_json(const Measured<Uncertainty95>& uncertainty) {
  if (!uncertainty) return nullptr;
  Json json;
  json["standard_trials"] = uncertainty.value().standard_trials;
  json["standard_common"] = uncertainty.value().standard_common;
  json["degrees_of_freedom"] = std::isfinite(uncertainty.value().dof) ? Json(uncertainty.value().dof) : Json(nullptr);
  return json;
}

Json expanded(const Measured<Uncertainty95>& uncertainty) {
  return uncertainty ? Json(uncertainty.value().expanded) : Json(nullptr);
}

Json stage_json(const Context& context, const StageSubject& subject, const StageMeasurement& stage) {
  Json json = parse_json(subject.facts, "facts");
  json["aggregate_repetitions"] = stage.repetitions;
  json[context.per("seconds")] = number(stage.seconds);
  json[context.per("raw_" + context.word + "_energy_J")] = number(stage.raw_j);
  json["idle_baseline_W"] = number(stage.idle_w);
  json[context.per("idle_adjusted_" + context.word + "_energy_J")] = number(stage.adjusted_j);
  json["idle_adjusted_baseline_range_J"] =
      stage.adjusted_range_j ? extremes_json(stage.adjusted_range_j.value()) : Json(nullptr);
  json["trial_energy_stdev_J"] = number(stage.stdev_j);
  json["uncertainty_J_95"] = expanded(stage.adjusted_95);
  json["uncertainty_J"] = uncertainty_json(stage.adjusted_95);
  json["trial_seconds_stdev"] = number(stage.seconds_stdev);
  json["uncertainty_seconds_95"] = expanded(stage.seconds_95);
  json["reason"] = stage.adjusted_j ? Json(nullptr) : fault_json(stage.adjusted_j.fault());
  json["flags"] = flags_json(stage.flags);
  json["first_batch"] = object(stage.first_details, "details");
  Json& trials = json["trials"] = Json::array();
  for (const TrialMeasurement& trial : stage.trials) trials.push_back(trial_json(context, trial));
  return json;
}

Json figures_json(const Measured<Comparison::Figures>& figures, const std::string& unit) {
  Json json;
  const auto put = [&](const std::string& key, double Comparison::Figures::*member) {
    json[key] = figures ? Json(figures.value().*member) : Json(nullptr);
  };
  put("difference_" + unit, &Comparison::Figures::difference);
  put("difference_" + unit + "_95", &Comparison::Figures::difference_95);
  put("ratio", &Comparison::Figures::ratio);
  put("ratio_95", &Comparison::Figures::ratio_95);
  json["reason"] = figures ? Json(nullptr) : fault_json(figures.fault());
  return json;
}

Json comparison_json(const Comparison& comparison) {
  Json json;
  json["first"] = comparison.first;
  json["second"] = comparison.second;
  json["pairs"] = comparison.pairs;
  json["seconds"] = figures_json(comparison.seconds, "s");
  json["idle_adjusted_energy"] = figures_json(comparison.adjusted_j, "J");
  return json;
}

/// The earliest instant that the document speaks of.
Instant origin_of(const Measurement& measurement) {
  std::optional<Instant> first;
  for (const StageMeasurement& stage : measurement.stages) {
    for (const TrialMeasurement& trial : stage.trials) {
      const Instant begin = trial.idle_before ? trial.idle_before.value().begin : trial.begin;
      if (!first || begin < *first) first = begin;
    }
  }
  return first.value_or(Instant{});
}

void put_all(Json& into, const Json& members) {
  for (const auto& [key, value] : members.items()) into[key] = value;
}

}  // namespace

std::string energy_document(const EnergyReport& report) {
  const EnergySubject& subject = report.subject;
  const Measurement& measurement = report.measurement;
  const Context context{report, scope_word(measurement.counter.scope), origin_of(measurement)};
  Json json;
  json["schema_version"] = energy_schema_version;
  json["report_date"] = subject.timestamp_utc.substr(0, 10);
  json["hardware"] = parse_json(subject.hardware, "hardware");
  json["host"] = parse_json(subject.host, "host");
  json["measurement"] = measurement_json(report);
  Json& section = json[subject.section];
  section["timestamp_utc"] = subject.timestamp_utc;
  put_all(section, parse_json(subject.facts, "facts"));
  put_all(section, parse_json(subject.environment, "environment"));
  section["ended_early"] = measurement.ended_early ? fault_json(*measurement.ended_early) : Json(nullptr);
  Json& stages = section["stages"] = Json::object();
  for (std::size_t i = 0; i < measurement.stages.size(); ++i) {
    stages[subject.stages.at(i).name] = stage_json(context, subject.stages[i], measurement.stages[i]);
  }
  if (!report.comparisons.empty()) {
    Json& comparisons = section["comparisons"] = Json::array();
    for (const Comparison& comparison : report.comparisons) comparisons.push_back(comparison_json(comparison));
  }
  return json_text(json);
}

std::string timestamp_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace joulegrid
