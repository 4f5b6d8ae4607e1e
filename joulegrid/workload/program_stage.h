#pragma once

#include <memory>
#include <string>

#include "joulegrid/measure/stage.h"
#include "joulegrid/process/program.h"

namespace joulegrid {

struct ProgramStageOptions {
  std::optional<std::chrono::nanoseconds> timeout;  ///< of each run
  bool accept_any_status = false;                   ///< an exit status other than 0 is no failure
  const Stop* stop = nullptr;
};

/// A stage whose repetition is one run of a program, start and end of the process included. A run that fails ends its
/// aggregate with FaultKind::work_failed; a stop with FaultKind::interrupted.
///
/// Details: `wall_seconds` of each run; `user_seconds` and `system_seconds` of all; `max_resident_bytes`, null where it is
/// not known; `exit_statuses`, those that occurred; `failed_run`, null or what is known of the run that failed; and of the
/// very first run `output` and `errors`, each with `text`, its last 64 KiB, and `bytes`, the number of all.
std::unique_ptr<Stage> make_program_stage(std::string name, ProgramCall call, const ProgramStageOptions& options);

}  // namespace joulegrid
