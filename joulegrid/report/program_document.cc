#include <algorithm>

#include "joulegrid/base/json.h"
#include "joulegrid/report/program_report.h"

namespace joulegrid {

namespace {

constexpr int schema_version = 1;

void add_price(Json& json, const ir::Price& price) {
  json["steps"] = price.steps.count();
  json["charged_reads"] = price.charged_reads.count();
  json["instruction_count"] = ir::instruction_count(price);
  Json& instructions = json["instructions"] = Json::object();
  for (std::size_t op = 0; op < ir::op_count; ++op) {
    if (price.instructions[op] != 0) instructions[std::string(ir::op_names[op])] = price.instructions[op];
  }
  Json& histogram = json["histogram"] = Json::object();
  // Keys are known to be distinct; the map's own look-up would go through all before it.
  for (const ir::DistanceReads& bin : price.histogram) {
    histogram.get_ref<Json::object_t&>().Container::emplace_back(std::to_string(bin.distance), bin.reads);
  }
}

Json outputs_json(const ProgramRun& run) {
  Json outputs = Json::array();
  const std::size_t each = run.instances == 0 ? 0 : run.outputs.size() / run.instances;
  auto failure = run.failures.begin();
  for (std::uint64_t i = 0; i < run.instances; ++i) {
    if (failure != run.failures.end() && failure->instance == i) {
      ++failure;
      outputs.push_back(nullptr);
      continue;
    }
    Json values = Json::array();
    for (std::size_t o = 0; o < each; ++o) values.push_back(__int128{run.outputs[i * each + o]});
    outputs.push_back(std::move(values));
  }
  return outputs;
}

Json failures_json(const std::vector<ProgramFailure>& failures) {
  Json json = Json::array();
  for (const ProgramFailure& failure : failures) {
    Json entry;
    entry["instance"] = failure.instance;
    entry["line"] = failure.line;
    entry["instruction"] = failure.instruction;
    entry["fault"] = ir::fault_name(failure.fault);
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string program_document(const ir::Price& price) {
  Json json;
  json["schema_version"] = schema_version;
  add_price(json, price);
  return json_text(json);
}

std::string program_document(const ir::Price& price, const ProgramRun& run) {
  Json json;
  json["schema_version"] = schema_version;
  json["instances"] = run.instances;
  json["outputs"] = outputs_json(run);
  json["failures"] = failures_json(run.failures);
  add_price(json, price);
  return json_text(json);
}

}  // namespace joulegrid
