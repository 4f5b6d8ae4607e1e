#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "joulegrid/measure/protocol.h"
#include "joulegrid/measure/stage.h"
#include "joulegrid/report/energy_report.h"

// What the subcommands of `measure` share.

namespace joulegrid::cli {

/// What a command measures: the subject but for the machine, and the stages.
struct Workload {
  EnergySubject subject;
  std::vector<std::unique_ptr<Stage>> stages;
};

/// Options of everything that is measured.
struct MeasureOptions {
  std::string trials_option = "--trials";
  MeasurePlan defaults;
  OutputOptions output;
  CounterPathOptions paths;
  std::string counter, trials, trial_seconds, idle_seconds, settle_seconds, warm_up, seed, record;

  void add_to(CLI::App& command);
  /// Throws where a file cannot be written, or is two things at once; call it before the work.
  void check() const;
  /// The plan, where an option is not given that of `otherwise`.
  MeasurePlan plan(const MeasurePlan& otherwise) const;
};

/// Runs the workload with the counter that the options name, and tells what came out.
void measure_live(const MeasureOptions& options, Workload& workload);

/// The report of a recording. `asked` is what the command line asks for where it says so, `plan_on` the plan that it asks for
/// where it leaves the rest as it was.
void replay_measurement(const MeasureOptions& options, const std::string& command, const std::optional<EnergySubject>& asked,
                        const std::function<MeasurePlan(const MeasurePlan&)>& plan_on, const std::string& file);

/// The file of "replay:FILE", or nothing.
std::optional<std::string> replayed_file(const std::string& counter);

/// What no figure of work on processors includes.
std::vector<std::string> excluded_of_cpu();

// Each adds one subcommand of `measure`.
void add_measure_gemm(CLI::App& measure);
void add_measure_mlp(CLI::App& measure);

}  // namespace joulegrid::cli
