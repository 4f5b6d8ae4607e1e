#include "cli/measure.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/counter/find_counters.h"
#include "joulegrid/counter/none.h"
#include "joulegrid/measure/live_instruments.h"
#include "joulegrid/measure/recorded_instruments.h"
#include "joulegrid/report/energy_report.h"
#include "joulegrid/report/machine.h"
#include "joulegrid/workload/busy_loop.h"
#include "joulegrid/workload/program_stage.h"

namespace joulegrid::cli {

namespace {

std::string seconds_text(std::chrono::nanoseconds time) {
  return fmt::format("{:g}", std::chrono::duration<double>(time).count());
}

}  // namespace

void MeasureOptions::add_to(CLI::App& command) {
  command
      .add_option("--counter", counter,
                  "auto, nvml[:UUID], amdsmi[:ADDRESS], rapl[:ZONES], perf[:ZONES], replay:FILE or none (auto: the CPU's, or "
                  "else a GPU's)")
      ->type_name("NAME");
  command
      .add_option(trials_option, trials,
                  fmt::format("measured trials of each stage ({})", static_cast<unsigned long long>(defaults.trials)))
      ->type_name("N");
  command
      .add_option("--trial-seconds", trial_seconds,
                  "least work in a trial; what is shorter is repeated (" + seconds_text(defaults.trial_time) + ")")
      ->type_name("S");
  command
      .add_option("--idle-seconds", idle_seconds,
                  "each idle window, one before and one after every trial (" + seconds_text(defaults.idle_time) + ")")
      ->type_name("S");
  command
      .add_option("--settle-seconds", settle_seconds,
                  "for power to fall after the work, before a window ends (" + seconds_text(defaults.settle_time) + ")")
      ->type_name("S");
  command.add_option("--seed", seed, "of the order of stages within the rounds of trials (1)")->type_name("S");
  command.add_option("--record", record, "write every reading and sample to this file, for --counter replay:FILE")
      ->type_name("FILE");
  paths.add_to(command);
  output.add_to(command);
}

std::optional<std::string> replayed_file(const std::string& counter) {
  constexpr std::string_view prefix = "replay:";
  if (!counter.starts_with(prefix)) return std::nullopt;
  std::string file = counter.substr(prefix.size());
  if (file.empty()) throw Error(ErrorCode::bad_input, "a recording is named like replay:FILE", "--counter");
  return file;
}

void MeasureOptions::check() const {
  output.check();
  if (!record.empty()) require_writable(record);
  const auto require_other = [](const std::string& one, const std::string& other, const char* what, const char* option) {
    if (!one.empty() && !other.empty() && same_file(one, other)) throw Error(ErrorCode::bad_input, what, option);
  };
  require_other(record, output.file, "the recording and the document need files of their own", "--record");
  const std::string replayed = replayed_file(counter).value_or("");
  require_other(record, replayed, "this is the recording that is replayed", "--record");
  require_other(output.file, replayed, "this is the recording that is replayed", "--output");
}

MeasurePlan MeasureOptions::plan(const MeasurePlan& otherwise) const {
  MeasurePlan plan = otherwise;
  if (!trials.empty()) plan.trials = parse_count(trials, trials_option);
  if (!trial_seconds.empty()) plan.trial_time = parse_seconds(trial_seconds, "--trial-seconds");
  if (!idle_seconds.empty()) plan.idle_time = parse_seconds(idle_seconds, "--idle-seconds");
  if (!settle_seconds.empty()) plan.settle_time = parse_seconds(settle_seconds, "--settle-seconds");
  if (!seed.empty()) plan.seed = parse_count(seed, "--seed");
  constexpr std::uint64_t most_trials = 1'000'000;
  if (plan.trials == 0 || plan.trials > most_trials) {
    throw Error(ErrorCode::bad_input, "expected a number of trials from 1 to 1000000", trials_option);
  }
  return plan;
}

namespace {

void warn(const std::string& text) { std::fprintf(stderr, "joulegrid: %s\n", printable(text).c_str()); }

/// The counter that is best for what a CPU does, or for lack of one a GPU's; none with the reasons where there is nothing.
std::unique_ptr<EnergyCounter> automatic_counter(const CounterOptions& options) {
  static constexpr std::array<const char*, 4> preferred{"rapl:package+dram", "rapl:package", "perf:package+dram",
                                                        "perf:package"};
  std::vector<FoundCounter> found = find_counters(options);
  for (const char* name : preferred) {
    for (FoundCounter& one : found) {
      if (one.counter && one.description.name == name) return std::move(one.counter.value());
    }
  }
  std::vector<FoundCounter*> boards;
  std::string reasons;
  for (FoundCounter& one : found) {
    if (one.counter && one.description.scope == CounterScope::gpu_board) boards.push_back(&one);
    if (!one.counter) reasons += (reasons.empty() ? "" : "; ") + one.description.name + ": " + one.counter.fault().reason;
  }
  if (boards.size() == 1) return std::move(boards.front()->counter.value());
  if (boards.size() > 1) {
    throw Error(ErrorCode::bad_input,
                "there are several GPUs, name one of their counters, such as " + boards.front()->description.name, "--counter");
  }
  return std::make_unique<NoneCounter>(Fault{FaultKind::not_present, reasons});
}

std::string_view doing(ProtocolProgress::Phase phase) {
  switch (phase) {
    case ProtocolProgress::Phase::tick: return "looking for the counter's tick";
    case ProtocolProgress::Phase::warm_up: return "warming up";
    case ProtocolProgress::Phase::idle: return "idle window";
    case ProtocolProgress::Phase::work: return "at work";
  }
  return "";
}

std::string progress_text(const ProtocolProgress& at) {
  if (at.phase == ProtocolProgress::Phase::tick) return std::string(doing(at.phase));
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(at.left).count();
  const std::string time = left >= 60 ? fmt::format("{} min {:02} s", left / 60, left % 60) : fmt::format("{} s", left);
  const std::string trial = at.position == 0 ? std::string() : fmt::format("trial {} of {}, ", at.position, at.trials);
  return fmt::format("{}{}, about {} left: {}", trial, doing(at.phase), time, printable(at.stage));
}

/// Every stage against the first one, where programs are compared.
std::vector<Comparison> comparisons_of(const EnergySubject& subject, const Measurement& measurement) {
  std::vector<Comparison> comparisons;
  if (subject.command != "command") return comparisons;
  for (std::size_t i = 1; i < measurement.stages.size(); ++i) {
    comparisons.push_back(compare(measurement.stages[0], measurement.stages[i]));
  }
  return comparisons;
}

/// Runs the protocol with the instruments and tells what came out.
void measure_with(const MeasureOptions& options, const EnergySubject& subject,
                  const std::vector<std::unique_ptr<Stage>>& stages, Instruments& instruments, const Stop* stop) {
  std::optional<LogSink> log;
  std::optional<Recorder> recorder;
  std::optional<RecordingInstruments> recording;
  if (!options.record.empty()) {
    log.emplace(options.record);
    recorder.emplace(*log, instruments.counter());
    recorder->other(session_line(subject));
    recording.emplace(instruments, *recorder);
  }
  const auto report_of = [&](const ProtocolRun& run) {
    EnergyReport report{subject, evaluate(run), {}};
    report.comparisons = comparisons_of(subject, report.measurement);
    return report;
  };
  ProgressLine line;
  ProtocolOptions how;
  how.stop = stop;
  how.progress = [&](const ProtocolProgress& at) { line.show(progress_text(at)); };
  how.after_trial = [&](const ProtocolRun& run) {
    // A pipe or a terminal would get one document after the other.
    if (options.output.file.empty() || is_special(options.output.file)) return;
    ProtocolRun so_far = run;
    so_far.ended_early = Fault{FaultKind::interrupted, "the measurement is going on, or ended without a word"};
    write_file(options.output.file, energy_document(report_of(so_far)));
  };
  const ProtocolRun run =
      run_protocol(subject.plan, stages, recording ? static_cast<Instruments&>(*recording) : instruments, how);
  if (recording && run.ended_early) recording->end_early(*run.ended_early);
  if (recorder) recorder->end();
  const EnergyReport report = report_of(run);
  line.clear();
  options.output.write(energy_document(report), [&](const TextStyle& style) { return energy_text(report, style); });
  if (run.ended_early) {
    if (run.ended_early->kind != FaultKind::interrupted) warn(run.ended_early->reason + "; finished trials are in the report");
    throw Interrupted{};
  }
  for (const StageMeasurement& stage : report.measurement.stages) {
    for (const Flag& flag : stage.flags) {
      if (flag.kind == FlagKind::work_failed) throw Error(ErrorCode::system, "some of the work failed: " + flag.text);
    }
  }
}

/// A stage that a recording speaks for.
std::vector<std::unique_ptr<Stage>> silent_stages(const EnergySubject& subject) {
  std::vector<std::unique_ptr<Stage>> stages;
  for (const StageSubject& stage : subject.stages) stages.push_back(make_stage(stage.name, [] {}));
  return stages;
}

/// Whether what is recorded has every fact that is asked for.
bool has_facts(const EnergySubject& recorded, const EnergySubject& asked, const std::string& file) {
  const Json facts = parse_json(recorded.facts, file);
  const Json asked_facts = parse_json(asked.facts, "facts");
  const auto items = asked_facts.items();
  return std::all_of(items.begin(), items.end(),
                     [&](const auto& one) { return facts.contains(one.key()) && same_json(facts[one.key()], one.value()); });
}

bool same_names(const std::vector<StageSubject>& a, const std::vector<StageSubject>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StageSubject& one, const StageSubject& other) { return one.name == other.name; });
}

}  // namespace

void replay_measurement(const MeasureOptions& options, const std::string& command, const std::optional<EnergySubject>& asked,
                        const std::function<MeasurePlan(const MeasurePlan&)>& plan_on, const std::string& file) {
  if (file.empty()) throw Error(ErrorCode::bad_input, "a recording is named like replay:FILE", "--counter");
  Recording recording = read_recording_file(file);
  std::optional<EnergySubject> subject;
  for (const Recording::Other& line : recording.others) {
    if (!subject && parse_json(line.text, line.where).contains("session")) subject = parse_session_line(line.text, line.where);
  }
  if (!subject) throw Error(ErrorCode::bad_input, "the recording is of no measurement", file);
  if (subject->command != command) {
    throw Error(ErrorCode::bad_input,
                "the recording is of `measure " + printable(subject->command) + "`, not of `measure " + command + "`", file);
  }
  if (asked && !has_facts(*subject, *asked, file)) {
    throw Error(ErrorCode::bad_input, "the recording is of something else: " + in_quotes(subject->facts, 200), file);
  }
  if (asked && !asked->stages.empty() && !same_names(asked->stages, subject->stages)) {
    throw Error(ErrorCode::bad_input, "the recording is of other stages", file);
  }
  if (plan_on(subject->plan) != subject->plan) {
    throw Error(ErrorCode::bad_input, "the recording was made with another plan; leave the options of the plan out", file);
  }
  ReplayInstruments instruments(std::move(recording));
  measure_with(options, *subject, silent_stages(*subject), instruments, &stop_on_signals());
}

void measure_live(const MeasureOptions& options, Workload& workload) {
  const CounterOptions where = options.paths.options();
  const bool automatic = options.counter.empty() || options.counter == "auto";
  const std::unique_ptr<EnergyCounter> counter = automatic ? automatic_counter(where) : open_counter(options.counter, where);
  if (automatic && counter->describe().kind == CounterKind::none && options.output.json) {
    warn("no energy counter, so there are times but no energies; `joulegrid counters` says why");
  }
  EnergySubject& subject = workload.subject;
  const Machine machine = Machine::here();
  subject.timestamp_utc = timestamp_utc();
  subject.hardware = hardware_json(machine, counter->describe(), counter->telemetry());
  subject.host = host_json(machine);
  for (const auto& stage : workload.stages) {
    const auto known = [&](const StageSubject& one) { return one.name == stage->name(); };
    if (std::none_of(subject.stages.begin(), subject.stages.end(), known)) subject.stages.push_back({stage->name()});
  }
  LiveInstruments instruments(*counter);
  measure_with(options, subject, workload.stages, instruments, &stop_on_signals());
}

std::vector<std::string> excluded_of_cpu() {
  return {"warm-up", "whatever the counter does not include, such as other devices, cooling and facility"};
}

namespace {

struct MeasureBusy {
  MeasureOptions options;
  ThreadsOption threads;

  Workload workload() const {
    Workload work;
    EnergySubject& subject = work.subject;
    subject.command = subject.section = "busy";
    subject.section = "busy_loop";
    subject.operation = "loop";
    Json facts;
    facts["threads"] = threads.threads();
    facts["operations_per_loop_and_thread"] = busy_loop_operations;
    subject.facts = facts.dump();
    subject.excluded = excluded_of_cpu();
    work.stages.push_back(make_busy_loop("busy_loop", threads.threads()));
    return work;
  }

  void run() const {
    options.check();
    Workload work = workload();
    if (const auto file = replayed_file(options.counter)) {
      replay_measurement(
          options, work.subject.command, threads.count.empty() ? std::nullopt : std::optional(work.subject),
          [this](const MeasurePlan& otherwise) { return options.plan(otherwise); }, *file);
      return;
    }
    work.subject.plan = options.plan(options.defaults);
    measure_live(options, work);
  }
};

/// The text as a document has it: what is not UTF-8 is replaced.
std::string valid_utf8(const std::string& text) {
  return parse_json(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace), "text").get<std::string>();
}

struct MeasureCommand {
  MeasureOptions options;
  std::vector<std::string> program;  ///< the words after --
  std::vector<std::string> others;
  std::string warm_up, timeout;
  bool shell = false;
  bool ignore_failure = false;

  ProgramCall call_of(const std::vector<std::string>& words) const {
    if (!shell) return {words};
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return shell_call(line);
  }

  /// The programs, the one after -- first.
  std::vector<ProgramCall> calls() const {
    std::vector<ProgramCall> calls{call_of(program)};
    for (const std::string& other : others) {
      if (shell) {
        calls.push_back(shell_call(other));
        continue;
      }
      calls.push_back({split_words(other, "--vs")});
      if (calls.back().words.empty()) throw Error(ErrorCode::bad_input, "names no program", "--vs");
    }
    return calls;
  }

  /// What people call the programs: their words, told apart where they are the same.
  std::vector<std::string> names(const std::vector<ProgramCall>& calls) const {
    std::vector<std::string> names;
    for (const ProgramCall& call : calls) {
      std::string name = shell ? call.words.back() : joined(call.words, " ");
      if (name.empty()) name = "''";
      name = valid_utf8(name);
      const std::string same = name;
      for (int i = 2; std::find(names.begin(), names.end(), name) != names.end(); ++i)
        name = same + " (" + std::to_string(i) + ")";
      names.push_back(name);
    }
    return names;
  }

  Workload workload() const {
    Workload work;
    EnergySubject& subject = work.subject;
    subject.command = subject.section = "command";
    subject.operation = "run";
    const std::vector<ProgramCall> programs = calls();
    const std::vector<std::string> their_names = names(programs);
    ProgramStageOptions how;
    if (!timeout.empty()) how.timeout = parse_seconds(timeout, "--timeout");
    how.accept_any_status = ignore_failure;
    how.stop = &stop_on_signals();
    Json facts;
    Json& list = facts["programs"] = Json::array();
    for (std::size_t i = 0; i < programs.size(); ++i) {
      list.push_back(programs[i].words);
      Json of_stage;
      of_stage["program"] = programs[i].words;
      subject.stages.push_back({their_names[i], of_stage.dump(-1, ' ', false, Json::error_handler_t::replace)});
      work.stages.push_back(make_program_stage(their_names[i], programs[i], how));
    }
    facts["ignore_failure"] = ignore_failure;
    facts["timeout_s"] = how.timeout ? Json(std::chrono::duration<double>(*how.timeout).count()) : Json(nullptr);
    subject.facts = facts.dump(-1, ' ', false, Json::error_handler_t::replace);
    subject.excluded = {"warm-up", "whatever the counter does not include, such as other devices, cooling and facility"};
    return work;
  }

  MeasurePlan plan(const MeasurePlan& otherwise) const {
    MeasurePlan plan = options.plan(otherwise);
    if (!warm_up.empty()) plan.warm_up_repetitions = parse_count(warm_up, "--warmup");
    return plan;
  }

  void run() const {
    options.check();
    if (const auto file = replayed_file(options.counter)) {
      const bool asked = !program.empty();
      if (!asked && (shell || ignore_failure || !others.empty() || !timeout.empty())) {
        throw Error(ErrorCode::bad_input,
                    "the recording says how its programs ran; give all of that, the program after -- too, or none",
                    "measure command");
      }
      replay_measurement(
          options, "command", asked ? std::optional(workload().subject) : std::nullopt,
          [this](const MeasurePlan& otherwise) { return plan(otherwise); }, *file);
      return;
    }
    if (program.empty()) {
      throw Error(ErrorCode::bad_input, "the program stands after --: joulegrid measure command -- PROGRAM ARGS…",
                  "measure command");
    }
    Workload work = workload();
    for (const ProgramCall& call : calls()) require_runnable(call, "measure command");
    work.subject.plan = plan(options.defaults);
    measure_live(options, work);
  }
};

}  // namespace

void add_measure(CLI::App& app, const std::vector<std::string>& program) {
  CLI::App* measure = app.add_subcommand("measure", "Measure the energy and time of something, idle power taken off");
  measure->require_subcommand(1);
  example(*measure, "joulegrid measure command --runs 5 -- sleep 0.1");

  CLI::App* busy = measure->add_subcommand("busy", "A loop that keeps the CPU busy: to try out the machine's counter");
  const auto of_busy = std::make_shared<MeasureBusy>();
  of_busy->threads.add_to(*busy, "loop");
  of_busy->options.add_to(*busy);
  example(*busy, "joulegrid measure busy --threads 1 --trials 3 --trial-seconds 0.5 --idle-seconds 0.5");
  busy->callback([of_busy] { of_busy->run(); });

  add_measure_gemm(*measure);
  add_measure_mlp(*measure);

  CLI::App* command = measure->add_subcommand(
      "command", "Energy and time of any program: joulegrid measure command [OPTIONS] -- PROGRAM ARGS…");
  const auto of_command = std::make_shared<MeasureCommand>();
  MeasureOptions& options = of_command->options;
  options.trials_option = "--runs";
  options.defaults.trials = 10;
  options.defaults.trial_time = options.defaults.idle_time = std::chrono::seconds(1);
  options.defaults.warm_up_time = {};
  options.defaults.work_in_processes = true;
  of_command->program = program;
  options.add_to(*command);
  command
      ->add_option("--warmup", of_command->warm_up,
                   "least runs before the first trial; one always finds out how long it takes (1)")
      ->type_name("N");
  command
      ->add_option("--vs", of_command->others,
                   "another program with its arguments, in quotes, to compare in alternation; may be given several times")
      ->type_name("'PROGRAM …'")
      ->allow_extra_args(false);
  command->add_option("--timeout", of_command->timeout, "kill a run that takes longer, and report it as failed")
      ->type_name("S");
  command->add_flag("--shell", of_command->shell, "hand the programs to /bin/sh, as one line each");
  command->add_flag("--ignore-failure", of_command->ignore_failure, "exit statuses other than 0 are no failures");
  example(*command, "joulegrid measure command --runs 3 --trial-seconds 0.5 --vs 'sleep 0.1' -- sleep 0.2");
  command->callback([of_command] { of_command->run(); });
}

}  // namespace joulegrid::cli
