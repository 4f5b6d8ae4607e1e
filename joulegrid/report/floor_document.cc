#include "joulegrid/base/json.h"
#include "joulegrid/report/floor_report.h"
#include "joulegrid/schedule/schedule_json.h"

namespace joulegrid {

FloorReport floor_report(const Problem& problem, const EnergyScale& scale) { return {problem, floor_of(problem), scale}; }

std::string floor_document(const FloorReport& report) {
  const Floor& floor = report.floor;
  const Wide macs = as_epoch(report.problem).macs();
  Json json;
  json["schema_version"] = schedule_schema_version;
  json["problem"] = problem_json(report.problem);
  json["schedules"] = "classical";
  json["steps"] = floor.steps.count();
  json["joules"] = report.scale.joules(floor.steps).count();
  json["joules_per_step"] = report.scale.joules_per_step;
  json["macs"] = macs;
  json["steps_per_mac"] = rounded_quotient(floor.steps.count(), macs);
  json["theorem"] = theorem_name(floor.theorem);
  Json& levels = json["levels"] = Json::array();
  for (const FloorLevel& level : floor.levels) {
    Json entry;
    entry["radius"] = level.last_radius;
    entry["radii"] = level.radii;
    entry["slow_reads"] = level.slow_reads.count();
    entry["theorem"] = theorem_name(level.theorem);
    levels.push_back(std::move(entry));
  }
  Json& joint = json["joint"];
  if (floor.joint.reads.count() > 0) {
    joint["radius"] = floor.joint.radius;
    joint["reads"] = floor.joint.reads.count();
    joint["theorem"] = theorem_name(FloorTheorem::copies);
  }
  return json_text(json);
}

}  // namespace joulegrid
