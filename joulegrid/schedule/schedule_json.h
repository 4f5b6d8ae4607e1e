#pragma once

#include "joulegrid/base/json.h"
#include "joulegrid/network/problem.h"
#include "joulegrid/schedule/schedule.h"

namespace joulegrid {

/// Version of the documents that describe schedules; raised when a reader of the old ones would misread a new one.
inline constexpr unsigned schedule_schema_version = 1;

/// {"kind": "gemm", "m", "k", "n"} or {"kind": "mlp", "dimensions", "examples", "batch"}.
Json problem_json(const Problem& problem);

/// The keys that make a document a schedule: schema_version, problem, family.
Json schedule_head_json(const Problem& problem, const Schedule& schedule);

/// Adds `tiles`: [{"rows", "layer", "tile_i", "tile_j"}, …], by call group and layer; or `nest`: a text for a GEMM, [{"rows",
/// "layer", "nest"}, …] for an epoch.
void add_schedule(Json& json, const Problem& problem, const Schedule& schedule);

}  // namespace joulegrid
