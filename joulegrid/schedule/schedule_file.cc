#include "joulegrid/schedule/schedule_file.h"

#include <functional>
#include <optional>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/schedule/schedule_json.h"

namespace joulegrid {

namespace {

[[noreturn]] void fail(const std::string& message, const std::string& where) {
  throw Error(ErrorCode::bad_input, message, where);
}

/// The call group of so many rows.
std::size_t group_of(const Epoch& epoch, std::uint64_t rows, const std::string& where) {
  std::string known;
  for (std::size_t group = 0; group < epoch.call_groups().size(); ++group) {
    if (epoch.call_groups()[group].rows == rows) return group;
    known += (known.empty() ? "" : " or ") + to_string(epoch.call_groups()[group].rows);
  }
  fail("this problem has calls of " + known + " rows, not of " + to_string(rows), where);
}

/// An array of one entry for each call group and layer: {"rows", "layer", …}.
template <typename Entry>
Json by_layer(const Epoch& epoch, const std::vector<std::vector<Entry>>& entries,
              const std::function<void(Json&, const Entry&)>& write) {
  Json json = Json::array();
  for (std::size_t group = 0; group < entries.size(); ++group) {
    for (std::size_t layer = 0; layer < entries[group].size(); ++layer) {
      Json entry;
      entry["rows"] = epoch.call_groups().at(group).rows;
      entry["layer"] = layer;
      write(entry, entries[group][layer]);
      json.push_back(std::move(entry));
    }
  }
  return json;
}

/// Reads such an array at `where`; `noun` says what an entry is.
template <typename Entry>
std::vector<std::vector<Entry>> read_by_layer(
    const Json& list, const std::string& where, const Epoch& epoch, const std::string& noun,
    const std::function<Entry(const Json&, const std::string& where, const Gemm&)>& read_entry) {
  if (!list.is_array()) fail("expected an array", where);
  std::vector<std::vector<std::optional<Entry>>> read(epoch.call_groups().size(),
                                                      std::vector<std::optional<Entry>>(epoch.layers()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string here = where + "/" + std::to_string(i);
    const std::uint64_t rows = json_size(json_member(list[i], "rows", here), here + "/rows");
    const std::size_t group = group_of(epoch, rows, here + "/rows");
    const Json& layer_json = json_member(list[i], "layer", here);
    if (!layer_json.is_number_unsigned() || layer_json.get<Wide>() >= epoch.layers()) {
      fail("expected a layer from 0 to " + std::to_string(epoch.layers() - 1) + ", found " + json_in_quotes(layer_json),
           here + "/layer");
    }
    const auto layer = static_cast<std::size_t>(layer_json.get<Wide>());
    if (read[group][layer]) fail("a second " + noun + " for the same rows and layer", here);
    read[group][layer] = read_entry(list[i], here, epoch.gemm(rows, layer));
  }
  std::vector<std::vector<Entry>> entries;
  for (std::size_t group = 0; group < read.size(); ++group) {
    std::vector<Entry>& of_group = entries.emplace_back();
    for (std::size_t layer = 0; layer < read[group].size(); ++layer) {
      if (!read[group][layer]) {
        fail("the " + noun + " of rows " + to_string(epoch.call_groups()[group].rows) + ", layer " + std::to_string(layer) +
                 " is missing",
             where);
      }
      of_group.push_back(std::move(*read[group][layer]));
    }
  }
  return entries;
}

EpochTiles read_tiles(const Json& list, const std::string& where, const Epoch& epoch) {
  return read_by_layer<Tile>(list, where, epoch, "tile", [](const Json& entry, const std::string& here, const Gemm& gemm) {
    const auto size = [&](const char* key) { return json_size(json_member(entry, key, here), here + "/" + key); };
    const Tile tile{size("tile_i"), size("tile_j")};
    require_fit(gemm, tile, here);
    return tile;
  });
}

Nest read_nest(const Json& text, const std::string& where, const Gemm& gemm) {
  if (!text.is_string()) fail("expected a nest as text", where);
  return parse_nest(text.get<std::string>(), where, gemm);
}

EpochNests read_nests(const Json& nests, const std::string& where, const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return {{read_nest(nests, where, *gemm)}};
  return read_by_layer<Nest>(nests, where, std::get<Epoch>(problem), "nest",
                             [](const Json& entry, const std::string& here, const Gemm& gemm) {
                               return read_nest(json_member(entry, "nest", here), here + "/nest", gemm);
                             });
}

}  // namespace

Json problem_json(const Problem& problem) {
  Json json;
  if (const auto* gemm = std::get_if<Gemm>(&problem)) {
    json["kind"] = "gemm";
    json["m"] = gemm->m;
    json["k"] = gemm->k;
    json["n"] = gemm->n;
    return json;
  }
  const auto& epoch = std::get<Epoch>(problem);
  json["kind"] = "mlp";
  json["dimensions"] = epoch.widths();
  json["examples"] = epoch.examples();
  json["batch"] = epoch.batch();
  return json;
}

Json schedule_head_json(const Problem& problem, const Schedule& schedule) {
  Json json;
  json["schema_version"] = schedule_schema_version;
  json["problem"] = problem_json(problem);
  json["family"] = family_name(schedule);
  return json;
}

void add_schedule(Json& json, const Problem& problem, const Schedule& schedule) {
  const Epoch epoch = as_epoch(problem);
  if (const auto* tiles = std::get_if<EpochTiles>(&schedule)) {
    json["tiles"] = by_layer<Tile>(epoch, *tiles, [](Json& entry, const Tile& tile) {
      entry["tile_i"] = tile.i;
      entry["tile_j"] = tile.j;
    });
    return;
  }
  const auto& nests = std::get<EpochNests>(schedule);
  if (std::holds_alternative<Gemm>(problem)) {
    json["nest"] = to_string(nests.at(0).at(0));
  } else {
    json["nest"] = by_layer<Nest>(epoch, nests, [](Json& entry, const Nest& nest) { entry["nest"] = to_string(nest); });
  }
}

std::string schedule_text(const Problem& problem, const Schedule& schedule) {
  Json json = schedule_head_json(problem, schedule);
  add_schedule(json, problem, schedule);
  return json_text(json);
}

Schedule read_schedule(std::string_view text, const std::string& source, const Problem& problem) {
  const Json json = parse_json(text, source);
  const std::string root = source + "#";
  if (const Json& version = json_member(json, "schema_version", root); !same_json(version, Json(schedule_schema_version))) {
    fail("expected schema_version " + std::to_string(schedule_schema_version) + ", found " + json_in_quotes(version),
         root + "/schema_version");
  }
  const Json& family = json_member(json, "family", root);
  if (family != "sa_cache" && family != "nest") {
    fail("expected the family \"sa_cache\" or \"nest\", found " + json_in_quotes(family), root + "/family");
  }
  const Json expected = problem_json(problem);
  if (const Json& found = json_member(json, "problem", root); !same_json(found, expected)) {
    constexpr std::size_t longest = 120;
    fail("a schedule for another problem, " + json_in_quotes(found, longest) + " instead of " +
             json_in_quotes(expected, longest),
         root + "/problem");
  }
  if (family == "sa_cache") return read_tiles(json_member(json, "tiles", root), root + "/tiles", as_epoch(problem));
  return read_nests(json_member(json, "nest", root), root + "/nest", problem);
}

}  // namespace joulegrid
