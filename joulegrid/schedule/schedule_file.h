#pragma once

#include <string>
#include <string_view>

#include "joulegrid/network/problem.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {

/// The schedule as the JSON text that `read_schedule` takes: schema_version, problem, family, tiles; docs/formats.md.
std::string schedule_text(const Problem& problem, const EpochTiles& tiles);

/// The tiles that the text holds for `problem`: of a schedule file, or of any document that `model` or `search` wrote.
/// Throws Error(bad_input) with the JSON pointer in `where` for anything malformed, for tiles that are missing, given twice
/// or too large, and for a schedule of another problem. `source` names the file.
EpochTiles read_schedule(std::string_view text, const std::string& source, const Problem& problem);

}  // namespace joulegrid
