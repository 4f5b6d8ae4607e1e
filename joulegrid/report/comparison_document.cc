#include "joulegrid/base/json.h"
#include "joulegrid/report/comparison_report.h"

namespace joulegrid {

namespace {

constexpr double picojoules_per_joule = 1e12;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> ratio(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *b != 0 ? std::optional(*a / *b) : std::nullopt;
}

std::optional<double> per_mac(const std::optional<double>& joules, const std::optional<Wide>& macs) {
  return joules && macs && *macs != 0 ? std::optional(*joules / static_cast<double>(*macs) * picojoules_per_joule)
                                      : std::nullopt;
}

Json modelled_json(const ComparedWorkload& workload) {
  const ModelledFigures& modelled = workload.modelled;
  Json json;
  json["flat_J"] = number(modelled.flat_j);
  json["nest_J"] = number(modelled.nest_j);
  json["floor_J"] = number(modelled.floor_j);
  json["mac_count_projection_J"] = number(modelled.projection_j);
  json["flat_pJ_per_MAC"] = number(per_mac(modelled.flat_j, workload.macs));
  json["nest_pJ_per_MAC"] = number(per_mac(modelled.nest_j, workload.macs));
  json["floor_pJ_per_MAC"] = number(per_mac(modelled.floor_j, workload.macs));
  json["mac_count_projection_pJ_per_MAC"] = number(per_mac(modelled.projection_j, workload.macs));
  return json;
}

Json measured_json(const ComparedWorkload& workload, const MeasuredFigures& measured, const std::string& source) {
  const StageFigures& figures = measured.figures;
  Json json;
  json["source"] = source;
  json["seconds"] = number(figures.seconds);
  json["raw_J"] = number(figures.raw_j);
  json["idle_baseline_W"] = number(figures.idle_w);
  json["idle_adjusted_J"] = number(figures.adjusted_j);
  json["uncertainty_J_95"] = number(figures.uncertainty_95);
  json["raw_pJ_per_MAC"] = number(per_mac(figures.raw_j, workload.macs));
  json["idle_adjusted_pJ_per_MAC"] = number(per_mac(figures.adjusted_j, workload.macs));
  json["ratio_to_flat"] = number(ratio(figures.adjusted_j, workload.modelled.flat_j));
  json["ratio_to_nest"] = number(ratio(figures.adjusted_j, workload.modelled.nest_j));
  json["ratio_to_floor"] = number(ratio(figures.adjusted_j, workload.modelled.floor_j));
  json["ratio_to_mac_count_projection"] = number(ratio(figures.adjusted_j, workload.modelled.projection_j));
  json["ratio_to_baseline"] = number(measured.ratio_to_baseline);
  json["changed"] = measured.changed ? Json(*measured.changed) : Json(nullptr);
  json["flags"] = figures.flags;
  json["reason"] = figures.reason.empty() ? Json(nullptr) : Json(figures.reason);
  return json;
}

/// A field of a CSV line (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return line + "\r\n";
}

std::string csv_number(const std::optional<double>& value) { return value ? shortest(*value) : std::string(); }

}  // namespace

std::string comparison_document(const ComparisonReport& report) {
  Json json;
  json["schema_version"] = 1;
  Json& sources = json["sources"] = Json::array();
  for (std::size_t i = 0; i < report.energy.size(); ++i) {
    Json entry;
    entry["file"] = report.energy[i].source;
    entry["kind"] = "energy";
    entry["machine"] = report.energy[i].machine.empty() ? Json(nullptr) : Json(report.energy[i].machine);
    entry["report_date"] = report.energy[i].date;
    entry["baseline"] = report.has_baseline && i == 0;
    sources.push_back(std::move(entry));
  }
  for (const MovementFile& file : report.movement) {
    Json entry;
    entry["file"] = file.source;
    entry["kind"] = "movement";
    entry["report_date"] = file.date;
    sources.push_back(std::move(entry));
  }
  Json& workloads = json["workloads"] = Json::array();
  for (const ComparedWorkload& workload : report.workloads) {
    Json entry;
    entry["workload"] = workload.name;
    entry["operation"] = workload.operation;
    entry["MAC"] = workload.macs ? Json(*workload.macs) : Json(nullptr);
    entry["modelled"] = modelled_json(workload);
    Json& measured = entry["measured"] = Json::array();
    for (std::size_t i = 0; i < report.energy.size(); ++i) {
      if (workload.measured[i]) measured.push_back(measured_json(workload, *workload.measured[i], report.energy[i].source));
    }
    workloads.push_back(std::move(entry));
  }
  json["terms_that_the_model_omits"] = report.omitted_terms;
  return json_text(json);
}

std::string comparison_csv(const ComparisonReport& report) {
  std::string text = csv_line({"workload", "operation", "MAC", "source", "machine", "seconds", "raw_J", "idle_adjusted_J",
                               "uncertainty_J_95", "idle_adjusted_pJ_per_MAC", "flat_J", "nest_J", "floor_J",
                               "mac_count_projection_J", "ratio_to_flat", "ratio_to_floor", "ratio_to_baseline", "changed"});
  for (const ComparedWorkload& workload : report.workloads) {
    const ModelledFigures& modelled = workload.modelled;
    for (std::size_t i = 0; i < report.energy.size(); ++i) {
      if (!workload.measured[i]) continue;
      const MeasuredFigures& measured = *workload.measured[i];
      const StageFigures& figures = measured.figures;
      text += csv_line({workload.name, workload.operation, workload.macs ? to_string(*workload.macs) : "",
                        report.energy[i].source, report.energy[i].machine, csv_number(figures.seconds),
                        csv_number(figures.raw_j), csv_number(figures.adjusted_j), csv_number(figures.uncertainty_95),
                        csv_number(per_mac(figures.adjusted_j, workload.macs)), csv_number(modelled.flat_j),
                        csv_number(modelled.nest_j), csv_number(modelled.floor_j), csv_number(modelled.projection_j),
                        csv_number(ratio(figures.adjusted_j, modelled.flat_j)),
                        csv_number(ratio(figures.adjusted_j, modelled.floor_j)), csv_number(measured.ratio_to_baseline),
                        measured.changed ? (*measured.changed ? "true" : "false") : ""});
    }
  }
  return text;
}

}  // namespace joulegrid
