#include "joulegrid/report/report_file.h"

#include <algorithm>
#include <array>

#include "joulegrid/base/error.h"
#include "joulegrid/report/json_cursor.h"

namespace joulegrid {

namespace {

constexpr std::uint64_t newest_schema = 1;

bool is_section(const JsonCursor& value) { return value.has("stages"); }

void require_known_schema(const JsonCursor& document) {
  if (const auto version = document.find("schema_version"); version && version->count() > newest_schema) {
    version->fail("this document is of schema_version " + to_string(version->count()) + ", this program knows up to " +
                  std::to_string(newest_schema));
  }
}

std::vector<Wide> counts(const JsonCursor& list) {
  std::vector<Wide> values;
  for (std::size_t i = 0; i < list.list().json().size(); ++i) values.push_back(list.item(i).count());
  return values;
}

/// The value of the key that begins and ends so, and what stands between; nothing where there is no such key.
struct Found {
  JsonCursor value;
  std::string between;
};
std::optional<Found> find_key(const JsonCursor& object, const std::string& begin, const std::string& end) {
  for (const auto& [key, value] : object.json().items()) {
    if (key.size() >= begin.size() + end.size() && key.starts_with(begin) && key.ends_with(end)) {
      return Found{object.at(key), key.substr(begin.size(), key.size() - begin.size() - end.size())};
    }
  }
  return std::nullopt;
}

/// "logical_batch16" is "16", "single_full_batch60000" is "full".
std::optional<std::string> batch_of(const std::string& stage) {
  constexpr const char* small = "logical_batch";
  if (stage.starts_with("single_full_batch")) return "full";
  if (stage.starts_with(small) && stage.size() > std::string(small).size()) return stage.substr(std::string(small).size());
  return std::nullopt;
}

std::optional<WorkloadKey> key_of(const JsonCursor& section, const std::string& stage) {
  if (const auto shape = section.find("shape")) {
    WorkloadKey key{counts(*shape), 0, {}};
    if (key.shape.size() != 3) shape->fail("expected the three sizes of a matrix product");
    return key;
  }
  const auto widths = section.find("logical_dimensions");
  const std::optional<std::string> batch = batch_of(stage);
  if (!widths || !batch) return std::nullopt;
  return WorkloadKey{counts(*widths), section.at("examples").count(), *batch};
}

StageFigures stage_of(const JsonCursor& section, const std::string& section_name, const std::string& name) {
  const JsonCursor stage = section.at("stages").at(name).object();
  StageFigures figures;
  figures.section = section_name;
  figures.stage = name;
  figures.key = key_of(section, name);
  for (const char* key : {"MAC", "logical_MAC_per_epoch"}) {
    if (const auto macs = section.find(key)) figures.macs = macs->count();
  }
  const auto seconds = find_key(stage, "seconds_per_", "");
  if (!seconds) stage.fail("the key \"seconds_per_…\" is missing");
  figures.operation = seconds->between;
  figures.seconds = seconds->value.number_or_null();
  const auto energy = [&](const std::string& begin) {
    const auto found = find_key(stage, begin, "_energy_J_per_" + figures.operation);
    if (!found) stage.fail("the key \"" + begin + "…_energy_J_per_" + figures.operation + "\" is missing");
    return found->value.number_or_null();
  };
  figures.raw_j = energy("raw_");
  figures.adjusted_j = energy("idle_adjusted_");
  figures.idle_w = stage.at("idle_baseline_W").number_or_null();
  if (const auto half_width = stage.find("uncertainty_J_95")) figures.uncertainty_95 = half_width->number_or_null();
  if (const auto flags = stage.find("flags")) {
    for (std::size_t i = 0; i < flags->list().json().size(); ++i) figures.flags.push_back(flags->item(i).at("flag").text());
  }
  if (const auto reason = stage.find("reason"); reason && !reason->is_null()) figures.reason = reason->at("text").text();
  return figures;
}

EnergyFile energy_file(const JsonCursor& document, const std::string& source) {
  EnergyFile file;
  file.source = source;
  file.date = document.at("report_date").text();
  const JsonCursor hardware = document.at("hardware").object();
  for (const char* key : {"cpu_name", "gpu_name"}) {
    if (const auto name = hardware.find(key); name && !name->is_null()) file.machine = name->text();
  }
  for (const auto& [name, value] : document.json().items()) {
    const JsonCursor section = document.at(name);
    if (!is_section(section)) continue;
    for (const auto& [stage, ignored] : section.at("stages").object().json().items()) {
      file.stages.push_back(stage_of(section, name, stage));
    }
  }
  if (file.stages.empty()) document.fail("the document has no section with stages");
  return file;
}

/// "retuned 8192^3 sa_cache …" or "retuned 10 x 20 x 30 sa_cache …": the sizes.
std::optional<WorkloadKey> reference_shape(const std::string& text, Wide macs) {
  std::vector<Wide> sizes;
  std::string digits;
  const std::string part = text.substr(0, text.find(" sa_cache"));
  for (std::size_t i = 0; i <= part.size(); ++i) {
    if (i < part.size() && part[i] >= '0' && part[i] <= '9') {
      digits += part[i];
    } else if (!digits.empty()) {
      sizes.push_back(parse_wide(digits, "reference"));
      digits.clear();
    }
  }
  if (part.ends_with("^3") && sizes.size() == 2) sizes = {sizes[0], sizes[0], sizes[0]};
  if (sizes.size() != 3 || checked_mul(checked_mul(sizes[0], sizes[1]), sizes[2]) != macs) return std::nullopt;
  return WorkloadKey{sizes, 0, {}};
}

MovementFile movement_file(const JsonCursor& document, const std::string& source) {
  MovementFile file;
  file.source = source;
  file.date = document.at("report_date").text();
  const JsonCursor network = document.at("network");
  const std::vector<Wide> widths = counts(network.at("dimensions"));
  const Wide examples = network.at("examples_per_inference_epoch").count();
  const JsonCursor cases = document.at("batching_analysis").at("persistent_epoch_address_space").at("cases").object();
  const std::optional<JsonCursor> search = document.find("nest_search");
  for (const auto& [batch, ignored] : cases.json().items()) {
    ModelledEpoch epoch;
    epoch.flat_j = cases.at(batch).at("epoch_movement_energy_J").number();
    if (search) {
      if (const auto nest = search->at("cases").object().find(batch))
        epoch.nest_j = nest->at("epoch_movement_energy_J").number();
    }
    file.epochs[{widths, examples, batch}] = epoch;
  }
  if (const auto floor = document.find("floor")) file.epoch_floor_j = floor->at("epoch_movement_energy_J").number();
  if (const auto projection = document.find("mac_count_only_sensitivity")) {
    file.joules_per_mac = projection->at("energy_J_per_MAC").number();
    file.gemm = reference_shape(projection->at("reference").text(), projection->at("reference_MAC").count());
    file.gemm_flat_j = projection->at("reference_energy_J").number();
  }
  const JsonCursor omitted = document.at("omitted_terms");
  for (std::size_t i = 0; i < omitted.list().json().size(); ++i) file.omitted_terms.push_back(omitted.item(i).text());
  return file;
}

bool is_energy(const JsonCursor& document) { return document.has("hardware") && document.has("measurement"); }

/// Of two sections of one name: whether they are of the same work, whenever it was measured.
bool same_facts(Json a, Json b) {
  for (Json* section : {&a, &b}) {
    for (const char* key : {"stages", "timestamp_utc", "ended_early", "comparisons", "measurement"}) section->erase(key);
  }
  return same_json(a, b);
}

/// What a reader of one document has to know about another section's measurement, without what every run finds anew.
Json comparable_measurement(Json measurement) {
  if (const auto counter = measurement.find("counter"); counter != measurement.end() && counter->is_object()) {
    for (const char* key : {"tick_ms", "resolution_uJ", "notes"}) counter->erase(key);
  }
  return measurement;
}

}  // namespace

ReportFile parse_report_file(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonCursor document(json, source);
  document.object();
  require_known_schema(document);
  if (is_energy(document)) return energy_file(document, source);
  if (document.has("batching_analysis")) return movement_file(document, source);
  document.fail("this is neither an energy document nor a movement document");
}

std::string joined_energy_document(const std::vector<NamedDocument>& documents) {
  check(!documents.empty(), "one document is the least to join");
  Json joined;
  for (const NamedDocument& one : documents) {
    const Json json = parse_json(one.text, one.source);
    const JsonCursor document(json, one.source);
    document.object();
    require_known_schema(document);
    if (!is_energy(document)) document.fail("this is no energy document");
    energy_file(document, one.source);  // so that errors are found before anything is joined
    if (joined.is_null()) {
      joined = json;
      continue;
    }
    for (const char* key : {"hardware", "host"}) {
      const Json mine = joined.contains(key) ? joined[key] : Json(nullptr);
      const Json theirs = json.contains(key) ? json[key] : Json(nullptr);
      if (!same_json(theirs, mine)) {
        JsonCursor(json, one.source, std::string("/") + key)
            .fail("it is of another machine than " + documents.front().source +
                  "; `report compare` sets machines side by side");
      }
    }
    if (json["report_date"].get<std::string>() > joined["report_date"].get<std::string>()) {
      joined["report_date"] = json["report_date"];
    }
    const bool same_measurement =
        same_json(comparable_measurement(json["measurement"]), comparable_measurement(joined["measurement"]));
    for (const auto& [name, value] : json.items()) {
      if (!is_section(document.at(name))) continue;
      if (!joined.contains(name)) {
        joined[name] = value;
        if (!same_measurement) joined[name]["measurement"] = json["measurement"];
        continue;
      }
      Json& section = joined[name];
      if (!same_facts(section, value))
        document.at(name).fail("an earlier document has a section of this name about other work");
      if (!same_measurement) document.at(name).fail("an earlier document has this section, measured in another way");
      for (const auto& [stage, figures] : value["stages"].items()) {
        if (section["stages"].contains(stage))
          document.at(name).at("stages").at(stage).fail("an earlier document has this stage too");
        section["stages"][stage] = figures;
      }
    }
  }
  return json_text(joined);
}

}  // namespace joulegrid
