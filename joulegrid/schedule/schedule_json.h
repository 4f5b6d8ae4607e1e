#pragma once

#include "joulegrid/base/json.h"
#include "joulegrid/network/problem.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {

/// Version of the documents that describe schedules; raised when a reader of the old ones would misread a new one.
inline constexpr unsigned schedule_schema_version = 1;

/// {"kind": "gemm", "m", "k", "n"} or {"kind": "mlp", "dimensions", "examples", "batch"}.
Json problem_json(const Problem& problem);

/// [{"rows", "layer", "tile_i", "tile_j"}, …], by call group and layer.
Json tiles_json(const Epoch& epoch, const EpochTiles& tiles);

/// The keys that make a document a schedule: schema_version, problem, family, tiles.
Json schedule_json(const Problem& problem, const EpochTiles& tiles);

}  // namespace joulegrid
