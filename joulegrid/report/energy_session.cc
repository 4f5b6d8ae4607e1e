#include "joulegrid/base/json.h"
#include "joulegrid/report/energy_report.h"

namespace joulegrid {

namespace {

constexpr const char* session_key = "session";

std::string text_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = json_member(object, key, where);
  if (!value.is_string()) throw Error(ErrorCode::bad_input, "expected a text, found " + json_in_quotes(value), where);
  return value.get<std::string>();
}

std::string object_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = json_member(object, key, where);
  if (!value.is_object()) throw Error(ErrorCode::bad_input, "expected an object, found " + json_in_quotes(value), where);
  return value.dump();
}

std::vector<std::string> texts_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = json_member(object, key, where);
  if (!value.is_array()) throw Error(ErrorCode::bad_input, "expected a list, found " + json_in_quotes(value), where);
  std::vector<std::string> texts;
  for (const Json& text : value) {
    if (!text.is_string()) throw Error(ErrorCode::bad_input, "expected a text, found " + json_in_quotes(text), where);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::uint64_t count_of(const Json& object, const char* key, const std::string& where) {
  const Json& value = json_member(object, key, where);
  if (!value.is_number_unsigned() || value.get<Wide>() > Wide{UINT64_MAX}) {
    throw Error(ErrorCode::bad_input, "expected a count, found " + json_in_quotes(value), where);
  }
  return static_cast<std::uint64_t>(value.get<Wide>());
}

std::chrono::nanoseconds time_of(const Json& object, const char* key, const std::string& where) {
  const std::uint64_t count = count_of(object, key, where);
  constexpr std::uint64_t longest = 100'000'000ULL * 1'000'000'000ULL;  // as on the command line, some three years
  if (count > longest) throw Error(ErrorCode::bad_input, "the time is too long", where);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(count));
}

Json plan_json(const MeasurePlan& plan) {
  Json json;
  json["trials"] = plan.trials;
  json["trial_ns"] = std::int64_t{plan.trial_time.count()};
  json["idle_ns"] = std::int64_t{plan.idle_time.count()};
  json["settle_ns"] = std::int64_t{plan.settle_time.count()};
  json["warm_up_ns"] = std::int64_t{plan.warm_up_time.count()};
  json["warm_up_repetitions"] = plan.warm_up_repetitions;
  json["sampling_ns"] = std::int64_t{plan.sampling_interval.count()};
  json["work_in_processes"] = plan.work_in_processes;
  json["seed"] = plan.seed;
  return json;
}

MeasurePlan plan_of(const Json& json, const std::string& where) {
  MeasurePlan plan;
  plan.trials = count_of(json, "trials", where);
  constexpr std::uint64_t most_trials = 1'000'000;
  if (plan.trials > most_trials) throw Error(ErrorCode::bad_input, "there are too many trials", where);
  plan.trial_time = time_of(json, "trial_ns", where);
  plan.idle_time = time_of(json, "idle_ns", where);
  plan.settle_time = time_of(json, "settle_ns", where);
  plan.warm_up_time = time_of(json, "warm_up_ns", where);
  plan.warm_up_repetitions = count_of(json, "warm_up_repetitions", where);
  plan.sampling_interval = time_of(json, "sampling_ns", where);
  const Json& processes = json_member(json, "work_in_processes", where);
  if (!processes.is_boolean()) throw Error(ErrorCode::bad_input, "expected true or false", where);
  plan.work_in_processes = processes.get<bool>();
  plan.seed = count_of(json, "seed", where);
  return plan;
}

}  // namespace

std::string session_line(const EnergySubject& subject) {
  Json json;
  Json& session = json[session_key];
  session["command"] = subject.command;
  session["section"] = subject.section;
  session["operation"] = subject.operation;
  session["facts"] = parse_json(subject.facts, "facts");
  session["environment"] = parse_json(subject.environment, "environment");
  Json& stages = session["stages"] = Json::array();
  for (const StageSubject& stage : subject.stages) {
    Json entry;
    entry["name"] = stage.name;
    entry["facts"] = parse_json(stage.facts, "facts");
    stages.push_back(std::move(entry));
  }
  session["excluded"] = subject.excluded;
  session["timestamp_utc"] = subject.timestamp_utc;
  session["hardware"] = parse_json(subject.hardware, "hardware");
  session["host"] = parse_json(subject.host, "host");
  session["plan"] = plan_json(subject.plan);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EnergySubject parse_session_line(const std::string& line, const std::string& where) {
  const Json json = parse_json(line, where);
  const Json& session = json_member(json, session_key, where);
  EnergySubject subject;
  subject.command = text_of(session, "command", where);
  subject.section = text_of(session, "section", where);
  subject.operation = text_of(session, "operation", where);
  subject.facts = object_of(session, "facts", where);
  subject.environment = object_of(session, "environment", where);
  const Json& stages = json_member(session, "stages", where);
  if (!stages.is_array()) throw Error(ErrorCode::bad_input, "expected a list of stages", where);
  for (const Json& stage : stages) subject.stages.push_back({text_of(stage, "name", where), object_of(stage, "facts", where)});
  subject.excluded = texts_of(session, "excluded", where);
  subject.timestamp_utc = text_of(session, "timestamp_utc", where);
  subject.hardware = object_of(session, "hardware", where);
  subject.host = object_of(session, "host", where);
  subject.plan = plan_of(json_member(session, "plan", where), where);
  return subject;
}

}  // namespace joulegrid
