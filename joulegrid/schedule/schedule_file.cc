#include "joulegrid/schedule/schedule_file.h"

#include <optional>

#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/schedule/schedule_json.h"

namespace joulegrid {

namespace {

constexpr const char* family = "sa_cache";

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

Json tiles_json(const Epoch& epoch, const EpochTiles& tiles) {
  Json json = Json::array();
  for (std::size_t group = 0; group < tiles.size(); ++group) {
    for (std::size_t layer = 0; layer < tiles[group].size(); ++layer) {
      Json entry;
      entry["rows"] = epoch.call_groups().at(group).rows;
      entry["layer"] = layer;
      entry["tile_i"] = tiles[group][layer].i;
      entry["tile_j"] = tiles[group][layer].j;
      json.push_back(std::move(entry));
    }
  }
  return json;
}

Json schedule_json(const Problem& problem, const EpochTiles& tiles) {
  Json json;
  json["schema_version"] = schedule_schema_version;
  json["problem"] = problem_json(problem);
  json["family"] = family;
  json["tiles"] = tiles_json(as_epoch(problem), tiles);
  return json;
}

std::string schedule_text(const Problem& problem, const EpochTiles& tiles) { return json_text(schedule_json(problem, tiles)); }

EpochTiles read_schedule(std::string_view text, const std::string& source, const Problem& problem) {
  const Json json = parse_json(text, source);
  const std::string root = source + "#";
  if (const Json& version = json_member(json, "schema_version", root + "/"); version != schedule_schema_version) {
    fail("expected schema_version 1, found " + version.dump(), root + "/schema_version");
  }
  if (const Json& found = json_member(json, "family", root + "/"); found != family) {
    fail("expected the family \"sa_cache\", found " + found.dump(), root + "/family");
  }
  if (const Json& found = json_member(json, "problem", root + "/"); found != problem_json(problem)) {
    fail("a schedule for another problem, " + found.dump() + " instead of " + problem_json(problem).dump(), root + "/problem");
  }
  const Json& list = json_member(json, "tiles", root + "/");
  if (!list.is_array()) fail("expected an array", root + "/tiles");

  const Epoch epoch = as_epoch(problem);
  std::vector<std::vector<std::optional<Tile>>> read(epoch.call_groups().size(),
                                                     std::vector<std::optional<Tile>>(epoch.layers()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = root + "/tiles/" + std::to_string(i);
    const auto size = [&](const char* key) { return json_size(json_member(list[i], key, where), where + "/" + key); };
    const std::size_t group = group_of(epoch, size("rows"), where + "/rows");
    const Json& layer_json = json_member(list[i], "layer", where);
    if (!layer_json.is_number_unsigned() || layer_json.get<Wide>() >= epoch.layers()) {
      fail("expected a layer from 0 to " + std::to_string(epoch.layers() - 1) + ", found " + layer_json.dump(),
           where + "/layer");
    }
    const auto layer = static_cast<std::size_t>(layer_json.get<Wide>());
    const Tile tile{size("tile_i"), size("tile_j")};
    require_fit(epoch.gemm(epoch.call_groups()[group].rows, layer), tile, where);
    if (read[group][layer]) fail("a second tile for the same rows and layer", where);
    read[group][layer] = tile;
  }
  EpochTiles tiles;
  for (std::size_t group = 0; group < read.size(); ++group) {
    std::vector<Tile>& of_group = tiles.emplace_back();
    for (std::size_t layer = 0; layer < read[group].size(); ++layer) {
      if (!read[group][layer]) {
        fail("the tile of rows " + to_string(epoch.call_groups()[group].rows) + ", layer " + std::to_string(layer) +
                 " is missing",
             root + "/tiles");
      }
      of_group.push_back(*read[group][layer]);
    }
  }
  return tiles;
}

}  // namespace joulegrid
