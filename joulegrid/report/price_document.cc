#include "joulegrid/base/json.h"
#include "joulegrid/bound/floor.h"
#include "joulegrid/report/price_report.h"
#include "joulegrid/schedule/schedule_json.h"

namespace joulegrid {

namespace {

Json regions_json(const Packing& packing) {
  Json json = Json::array();
  for (const PackedRegion& region : packing.regions) {
    Json entry;
    entry["name"] = region.name;
    entry["role"] = role_name(region.role);
    entry["cells"] = region.cells;
    entry["reads_per_cell"] = region.reads_per_cell;
    entry["first_address"] = region.first_address;
    entry["last_address"] = region.last_address;
    entry["steps"] = region.steps.count();
    json.push_back(std::move(entry));
  }
  return json;
}

Json layers_json(const Epoch& epoch, const Packing& packing) {
  Json json = Json::array();
  for (std::size_t layer = 0; layer < packing.layer_steps.size(); ++layer) {
    Json entry;
    entry["layer"] = layer;
    entry["input_width"] = epoch.widths()[layer];
    entry["output_width"] = epoch.widths()[layer + 1];
    entry["steps"] = packing.layer_steps[layer].count();
    json.push_back(std::move(entry));
  }
  return json;
}

Json proof_json(GridSteps steps, const ProofFacts& proof) {
  const Wide bound = proof.lower_bound.count();
  Json json;
  json["lower_bound_steps"] = bound;
  json["gap"] = rounded_quotient(checked_sub(steps.count(), bound), bound);
  json["optimal"] = proof.lower_bound == steps;
  json["nodes"] = proof.nodes;
  return json;
}

void add_search(Json& json, const SearchFacts& facts) {
  if (!facts.nests) json["candidates"] = facts.candidates == Candidates::divisors ? "divisors" : "all";
  json["evaluations"] = facts.evaluations;
  json["seconds"] = facts.seconds;
  json["seed"] = nullptr;  // only annealing is random
  if (facts.nests && facts.nests->method == NestMethod::annealing) json["seed"] = facts.nests->seed;
  json["complete"] = facts.complete;
  if (facts.nests) json["method"] = method_name(facts.nests->method);
  if (facts.nests) json["rounds"] = facts.nests->rounds;
  if (facts.start) {
    json["winning_start"] = start_name(*facts.start);
    json["sweeps"] = facts.sweeps;
  }
}

}  // namespace

PriceReport price_report(const Problem& problem, const Schedule& schedule, const EnergyScale& scale) {
  return {problem, schedule, pack(overlays_of(problem, schedule)), scale, floor_of(problem).steps};
}

std::string price_document(const PriceReport& report) {
  const Epoch epoch = as_epoch(report.problem);
  Json json = schedule_head_json(report.problem, report.schedule);
  json["steps"] = report.packing.steps.count();
  json["charged_reads"] = report.packing.charged_reads.count();
  json["joules"] = report.scale.joules(report.packing.steps).count();
  json["joules_per_step"] = report.scale.joules_per_step;
  json["macs"] = epoch.macs();
  json["steps_per_mac"] = rounded_quotient(report.packing.steps.count(), epoch.macs());
  json["floor_steps"] = report.floor.count();
  json["ratio_to_floor"] = rounded_quotient(report.packing.steps.count(), report.floor.count());
  if (std::holds_alternative<Epoch>(report.problem)) json["layers"] = layers_json(epoch, report.packing);
  json["regions"] = regions_json(report.packing);
  add_schedule(json, report.problem, report.schedule);
  if (report.search) {
    add_search(json, *report.search);
    if (report.search->proof) json["proof"] = proof_json(report.packing.steps, *report.search->proof);
  }
  return json_text(json);
}

}  // namespace joulegrid
