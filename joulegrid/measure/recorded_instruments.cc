#include "joulegrid/measure/recorded_instruments.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

std::int64_t nanoseconds_of(TimeSource::Instant instant) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(instant.time_since_epoch()).count();
}

TimeSource::Instant instant_of(const Json& value, const std::string& where) {
  constexpr Json::number_integer_t most = std::int64_t{1} << 58U;  // as in recordings of counters
  const bool fits = value.is_number_unsigned() ? value.get<Wide>() <= static_cast<Wide>(most)
                                               : value.is_number_integer() && value.get<Json::number_integer_t>() >= -most &&
                                                     value.get<Json::number_integer_t>() <= most;
  if (!fits) throw Error(ErrorCode::bad_input, "expected a clock's nanoseconds, found " + json_in_quotes(value), where);
  return TimeSource::Instant(std::chrono::nanoseconds(static_cast<std::int64_t>(value.get<Json::number_integer_t>())));
}

std::uint64_t count_of(const Json& value, const std::string& where) {
  const bool fits = value.is_number_unsigned() && value.get<Wide>() <= std::numeric_limits<std::uint64_t>::max();
  if (!fits) throw Error(ErrorCode::bad_input, "expected a count, found " + json_in_quotes(value), where);
  return static_cast<std::uint64_t>(value.get<Wide>());
}

/// The document as one line; what is not UTF-8 in a text is replaced.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A text as it comes back from a recording.
std::string as_recorded(const std::string& text) { return parse_json(line_of(Json(text)), "text").get<std::string>(); }

Json fault_json(const Fault& fault) {
  Json json;
  json["fault"] = fault_name(fault.kind);
  json["reason"] = fault.reason;
  return json;
}

std::string text_of(const Json& value, const std::string& where) {
  if (!value.is_string()) throw Error(ErrorCode::bad_input, "expected a text, found " + json_in_quotes(value), where);
  return value.get<std::string>();
}

Fault fault_of(const Json& json, const std::string& where) {
  return {parse_fault_name(text_of(json_member(json, "fault", where), where), where),
          text_of(json_member(json, "reason", where), where)};
}

}  // namespace

Measured<Reading> RecordingInstruments::read() {
  Measured<Reading> reading = instruments_.read();
  recorder_.reading(reading);
  return reading;
}

Aggregate RecordingInstruments::run(Stage& stage, std::uint64_t repetitions) {
  Aggregate aggregate = instruments_.run(stage, repetitions);
  Json line;
  Json& run = line["run"];
  run["stage"] = stage.name();
  run["repetitions"] = repetitions;
  run["begin_ns"] = nanoseconds_of(aggregate.begin);
  run["end_ns"] = nanoseconds_of(aggregate.end);
  run["fault"] = aggregate.fault ? fault_json(*aggregate.fault) : Json(nullptr);
  run["details"] = aggregate.details.empty() ? Json(nullptr) : parse_json(aggregate.details, "details of " + stage.name());
  recorder_.other(line_of(line));
  return aggregate;
}

std::vector<TelemetrySample> RecordingInstruments::take_samples() {
  std::vector<TelemetrySample> samples = instruments_.take_samples();
  for (const TelemetrySample& sample : samples) recorder_.telemetry(sample);
  return samples;
}

void RecordingInstruments::end_early(const Fault& why) {
  Json line;
  line["ended_early"] = fault_json(why);
  recorder_.other(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

ReplayInstruments::ReplayInstruments(Recording recording) : recording_(std::move(recording)) {
  TimeSource::Instant last_end = TimeSource::Instant::min();
  for (const Recording::Other& line : recording_.others) {
    const Json json = parse_json(line.text, line.where);
    if (const auto why = json.find("ended_early"); why != json.end()) {
      ended_early_ = fault_of(*why, line.where);
      if (!ends_a_run(*ended_early_)) throw Error(ErrorCode::bad_input, "no run ends early for this", line.where);
    }
    Run run = parse_run(line);
    if (run.where.empty()) continue;
    if (!run.aggregate.fault) {
      if (run.aggregate.begin < last_end) {
        throw Error(ErrorCode::bad_input, "the run begins before the one before it ended", run.where);
      }
      last_end = run.aggregate.end;
    }
    runs_.push_back(std::move(run));
  }
}

/// A run without `where` for a line of another kind.
ReplayInstruments::Run ReplayInstruments::parse_run(const Recording::Other& line) {
  const Json json = parse_json(line.text, line.where);
  const auto found = json.find("run");
  if (found == json.end()) return {};
  Run run;
  run.where = line.where;
  run.stage = text_of(json_member(*found, "stage", line.where), line.where);
  run.line = line.line;
  run.repetitions = count_of(json_member(*found, "repetitions", line.where), line.where);
  run.aggregate.begin = instant_of(json_member(*found, "begin_ns", line.where), line.where);
  run.aggregate.end = instant_of(json_member(*found, "end_ns", line.where), line.where);
  if (run.aggregate.end < run.aggregate.begin) throw Error(ErrorCode::bad_input, "the run ends before it begins", line.where);
  if (const Json& fault = json_member(*found, "fault", line.where); !fault.is_null()) {
    run.aggregate.fault = fault_of(fault, line.where);
  }
  if (const Json& details = json_member(*found, "details", line.where); !details.is_null())
    run.aggregate.details = details.dump();
  return run;
}

Measured<Reading> ReplayInstruments::read() {
  if (next_reading_ == recording_.readings.size()) return ended("reading");
  return recording_.readings[next_reading_++];
}

Aggregate ReplayInstruments::run(Stage& stage, std::uint64_t repetitions) {
  if (next_run_ == runs_.size()) return {{}, {}, ended("run"), {}};
  const Run& run = runs_[next_run_++];
  if (run.stage != as_recorded(stage.name())) {
    throw Error(ErrorCode::bad_input,
                "the recording is of the stage " + in_quotes(run.stage) + ", not of " + in_quotes(stage.name()), run.where);
  }
  if (run.repetitions != repetitions) {
    throw Error(ErrorCode::bad_input,
                "the recording has " + std::to_string(run.repetitions) + " repetitions where " + std::to_string(repetitions) +
                    " are asked for; it is of another measurement",
                run.where);
  }
  return run.aggregate;
}

std::vector<TelemetrySample> ReplayInstruments::take_samples() {
  constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t next =
      std::min(next_reading_ < recording_.reading_lines.size() ? recording_.reading_lines[next_reading_] : never,
               next_run_ < runs_.size() ? runs_[next_run_].line : never);
  std::vector<TelemetrySample> taken;
  for (; next_sample_ < recording_.samples.size() && recording_.sample_lines[next_sample_] < next; ++next_sample_) {
    taken.push_back(std::move(recording_.samples[next_sample_]));
  }
  return taken;
}

}  // namespace joulegrid
