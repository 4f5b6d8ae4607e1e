#pragma once

#include <string>
#include <string_view>

#include "joulegrid/network/problem.h"
#include "joulegrid/schedule/schedule.h"

namespace joulegrid {

/// The schedule as the JSON text that `read_schedule` takes: schema_version, problem, family, tiles or nest; docs/formats.md.
std::string schedule_text(const Problem& problem, const Schedule& schedule);

/// The schedule that the text holds for `problem`: of a schedule file, or of any document that `model` or `search` wrote.
/// Throws Error(bad_input) with the JSON pointer in `where` for anything malformed, for tiles or nests that are missing, given
/// twice or do not fit, and for a schedule of another problem. `source` names the file.
Schedule read_schedule(std::string_view text, const std::string& source, const Problem& problem);

}  // namespace joulegrid
