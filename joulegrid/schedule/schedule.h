#pragma once

#include <variant>
#include <vector>

#include "joulegrid/grid/overlay.h"
#include "joulegrid/network/problem.h"
#include "joulegrid/schedule/nest_epoch.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {

/// A schedule of a problem: a tile or a nest for each call group and layer. A GEMM has one of each.
using Schedule = std::variant<EpochTiles, EpochNests>;

/// "sa_cache" or "nest".
const char* family_name(const Schedule& schedule);

/// The problem's buffers in one address space. Throws Error(bad_input) where a tile or nest does not fit, Error(overflow).
std::vector<Overlay> overlays_of(const Problem& problem, const Schedule& schedule);

}  // namespace joulegrid
