#include <algorithm>

#include "joulegrid/base/json.h"
#include "joulegrid/report/movement_report.h"
#include "joulegrid/schedule/schedule_json.h"

namespace joulegrid {

namespace {

/// The image count as the published texts write it: 60000 is "60k".
std::string count_in_text(std::uint64_t examples) { return examples == 60000 ? "60k" : to_string(examples); }

std::string shape_in_text(const Gemm& gemm) {
  if (gemm.m == gemm.k && gemm.k == gemm.n) return to_string(gemm.m) + "^3";
  return to_string(gemm.m) + "x" + to_string(gemm.k) + "x" + to_string(gemm.n);
}

/// The first listed batch that does not divide the examples.
const MovementCase* first_divided_case(const MovementReport& report) {
  const auto found = std::find_if(report.cases.begin(), report.cases.end(),
                                  [](const MovementCase& c) { return c.epoch.call_groups().size() > 1; });
  return found == report.cases.end() ? nullptr : &*found;
}

Json step_interpretation(const EnergyScale& scale) {
  Json json;
  json["dally_2023_on_chip_communication_fJ_per_bit_mm"] = static_cast<std::uint64_t>(EnergyScale::wire_fJ_per_bit_mm);
  json["abstract_step_energy_J_per_int8_operand"] = scale.joules_per_step;
  json["equivalent_distance_um_per_step"] = scale.micrometres_per_step();
  json["qualification"] = "an energy-equivalent scale comparison, not a claim that an abstract address step is a physical " +
                          shortest(scale.micrometres_per_step()) + " um wire";
  return json;
}

Json network(const MovementSubject& subject, const Epoch& epoch) {
  Json json;
  json["dimensions"] = subject.widths;
  json["examples_per_inference_epoch"] = subject.examples;
  json["logical_MAC_per_example"] = epoch.macs_per_example();
  json["logical_MAC_per_epoch"] = epoch.macs();
  return json;
}

Json schedule_family() {
  Json json;
  json["family"] = "jointly packed generalized rectangular sa_cache";
  json["tile_search"] =
      "best of three deterministic coordinate-descent starts: independent layer optima, all-minimum tiles, and "
      "all-maximum tiles";
  json["qualification"] = "best found within this schedule family; not a global lower bound";
  return json;
}

Json partition(const Epoch& epoch) {
  Json json = Json::array();
  for (const CallGroup& group : epoch.call_groups()) {
    Json entry;
    entry["calls"] = group.calls;
    entry["rows_per_call"] = group.rows;
    entry["distinct_input_cells"] = checked_mul(checked_mul(group.calls, group.rows), epoch.widths().front());
    json.push_back(std::move(entry));
  }
  return json;
}

Json input_storage(const MovementReport& report) {
  const MovementSubject& subject = report.subject;
  Json json;
  json["materialized_before_modeled_run"] = true;
  json["examples"] = subject.examples;
  json["features_per_example"] = subject.widths.front();
  json["distinct_input_cells"] = checked_mul(subject.examples, subject.widths.front());
  if (const MovementCase* divided = first_divided_case(report)) {
    json["reusable_" + divided->name() + "_row_input_buffer"] = false;
    json["batch" + divided->name() + "_partition"] = partition(divided->epoch);
  }
  json["address_assignment"] = "all input cells are jointly frequency-packed in the persistent epoch address space";
  json["initial_materialization_energy"] = "excluded; inputs exist at their assigned addresses before modeled execution begins";
  return json;
}

Json persistent_address_space(const MovementReport& report) {
  const std::string count = count_in_text(report.subject.examples);
  Json json;
  json["description"] = "weights, the " + count + "-image source, and the " + count +
                        "-image output are allocated once and retained; layer-specific batch-local scratch and intermediate "
                        "activation buffers are reused across invocations";
  json["input_storage"] = input_storage(report);
  json["transient_storage"] =
      "computed hidden-layer activations use layer-specific batch-row buffers that are overwritten across invocations";
  return json;
}

Json decomposition(const Epoch& epoch) {
  Json json = Json::array();
  for (const CallGroup& group : epoch.call_groups()) {
    Json entry;
    entry["rows"] = group.rows;
    entry["invocation_count"] = group.calls;
    json.push_back(std::move(entry));
  }
  return json;
}

Json tiles_by_rows(const MovementCase& c) {
  Json json = Json::object();
  for (std::size_t group = 0; group < c.epoch.call_groups().size(); ++group) {
    Json layers = Json::array();
    for (std::size_t layer = 0; layer < c.epoch.layers(); ++layer) {
      const Tile tile = c.found.tiles[group][layer];
      Json entry;
      entry["layer"] = layer;
      entry["input_width"] = c.epoch.widths()[layer];
      entry["output_width"] = c.epoch.widths()[layer + 1];
      entry["tile_i"] = tile.i;
      entry["tile_j"] = tile.j;
      layers.push_back(std::move(entry));
    }
    json[to_string(c.epoch.call_groups()[group].rows)] = std::move(layers);
  }
  return json;
}

Json batch_case(const MovementReport& report, const MovementCase& c) {
  const EnergyScale& scale = report.subject.scale;
  const double joules = scale.joules(c.packing.steps).count();
  Json json;
  json["batch_size"] = c.epoch.batch();
  json["batch_invocations"] = c.epoch.calls();
  json["decomposition"] = decomposition(c.epoch);
  json["epoch_charged_reads"] = c.packing.charged_reads.count();
  json["movement_intensity_grid_steps_per_charged_read"] =
      rounded_quotient(c.packing.steps.count(), c.packing.charged_reads.count());
  json["epoch_movement_energy_J"] = joules;
  json["dally_2023_all_charged_reads_small_RAM_same_schedule_sensitivity_J"] =
      scale.joules_with_small_ram(c.packing.steps, c.packing.charged_reads).count();
  json["coordinate_descent_sweeps"] = c.found.sweeps;
  json["coordinate_descent_starts"] = all_starts.size();
  json["winning_start"] = start_name(c.found.start);
  json["tiles_by_invocation_rows"] = tiles_by_rows(c);
  json["movement_energy_ratio_to_full_batch"] = joules / scale.joules(report.full->packing.steps).count();
  return json;
}

Json endpoint_sensitivity() {
  Json json;
  json["formula"] = "E_J = movement_energy_J + charged_reads * 400e-15 for INT8";
  json["source"] =
      "https://aha.stanford.edu/sites/g/files/sbiybj20066/files/media/file/aha-retreat-2023_dally_keynote_en_eff_ai_hw_0.pdf";
  json["source_values"] = "100 fJ/(bit mm) on-chip communication and 50 fJ/bit small-RAM access";
  json["qualification"] =
      "illustrative sensitivity only: it treats every abstract charged read, including scratch and final-output reads, as an "
      "8-bit small-RAM access and evaluates the movement-optimized tiles without retuning; it is not part of the "
      "movement-only model";
  return json;
}

Json batching_analysis(const MovementReport& report) {
  Json json;
  Json space = persistent_address_space(report);
  Json cases = Json::object();
  for (const MovementCase& c : report.cases) cases[c.name()] = batch_case(report, c);
  space["cases"] = std::move(cases);
  json["persistent_epoch_address_space"] = std::move(space);
  json["dally_2023_endpoint_sensitivity"] = endpoint_sensitivity();
  return json;
}

Json mac_count_only(const Gemm& reference, const MacCountProjection& projection) {
  Json json;
  json["reference"] = "retuned " + shape_in_text(reference) + " sa_cache movement energy";
  json["reference_MAC"] = reference.macs();
  json["reference_energy_J"] = projection.gemm.count();
  json["energy_J_per_MAC"] = projection.joules_per_mac;
  json["projected_MNIST_epoch_energy_J_for_either_batching"] = projection.epoch.count();
  return json;
}

Json omitted_terms() {
  return {"destination writes",
          "arithmetic, bias, ReLU, saturation, and quantization",
          "Tensor Core shape padding",
          "energy to initially materialize the resident dataset and any batch-gather or copy operation",
          "kernel launch, control, clocking, leakage, and elapsed time",
          "physical cache, SRAM, HBM, and host-transfer behavior",
          "GPU occupancy and underfilled-kernel efficiency"};
}

Json nest_case(const MovementReport& report, const MovementCase& c) {
  const Packing& packing = c.nests->packing;
  Json json;
  json["batch_size"] = c.epoch.batch();
  json["rounds"] = c.nests->found.rounds;
  json["epoch_steps"] = packing.steps.count();
  json["epoch_charged_reads"] = packing.charged_reads.count();
  json["epoch_movement_energy_J"] = report.subject.scale.joules(packing.steps).count();
  json["steps_per_MAC"] = rounded_quotient(packing.steps.count(), c.epoch.macs());
  json["ratio_to_sa_cache"] = rounded_quotient(packing.steps.count(), c.packing.steps.count());
  json["ratio_to_floor"] = rounded_quotient(packing.steps.count(), report.floor->steps.count());
  add_schedule(json, c.epoch, c.nests->found.nests);
  return json;
}

Json nest_search(const MovementReport& report) {
  Json json;
  json["family"] = "jointly packed loop nests with buffers at any depth";
  json["qualification"] = "best found within this schedule family; not a global lower bound";
  json["seed"] = report.subject.beyond->seed;
  json["evaluations_per_batch"] = report.subject.beyond->evaluations;
  json["cases"] = Json::object();
  for (const MovementCase& c : report.cases) {
    if (c.nests) json["cases"][c.name()] = nest_case(report, c);
  }
  return json;
}

Json floor_json(const MovementReport& report) {
  const Floor& floor = *report.floor;
  Json json;
  json["schedules"] = "classical";
  json["theorem"] = theorem_name(floor.theorem);
  json["qualification"] = "no classical schedule of this epoch costs less, whatever its batch";
  json["epoch_steps"] = floor.steps.count();
  json["epoch_movement_energy_J"] = report.subject.scale.joules(floor.steps).count();
  json["steps_per_MAC"] = rounded_quotient(floor.steps.count(), report.epoch.macs());
  json["sa_cache_ratio_to_floor"] = Json::object();
  for (const MovementCase& c : report.cases) {
    json["sa_cache_ratio_to_floor"][c.name()] = rounded_quotient(c.packing.steps.count(), floor.steps.count());
  }
  return json;
}

}  // namespace

std::string movement_document(const MovementReport& report) {
  const MovementSubject& subject = report.subject;
  Json json;
  json["report_date"] = subject.date;
  json["joules_per_operand_grid_step"] = subject.scale.joules_per_step;
  json["movement_energy_unit"] =
      "joules, using " + shortest(subject.scale.joules_per_step) + " J per source operand per abstract address-grid step";
  json["distance"] = "d(address) = ceil(sqrt(address))";
  json["int8_step_interpretation"] = step_interpretation(subject.scale);
  json["network"] = network(subject, report.epoch);
  json["schedule"] = schedule_family();
  json["batching_analysis"] = batching_analysis(report);
  if (report.projection) json["mac_count_only_sensitivity"] = mac_count_only(subject.reference, *report.projection);
  json["precision_semantics"] =
      "The model has unbounded scalar cells and no bit width; its movement energy does not change between FP32, FP16, INT8, or "
      "one-bit values.";
  json["omitted_terms"] = omitted_terms();
  if (report.floor) {
    json["nest_search"] = nest_search(report);
    json["floor"] = floor_json(report);
  }
  if (!report.complete) json["interrupted"] = true;
  return json_text(json);
}

}  // namespace joulegrid
