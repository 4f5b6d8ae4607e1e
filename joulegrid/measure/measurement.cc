#include "joulegrid/measure/measurement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

namespace joulegrid {

namespace {

using std::chrono::nanoseconds;
using Instant = TimeSource::Instant;

double seconds_of(nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

template <typename... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

template <typename T>
void widen(std::optional<Extremes>& extremes, const Measured<T>& value, double scale) {
  if (!value) return;
  const double figure = static_cast<double>(value.value()) * scale;
  if (!extremes) extremes = Extremes{figure, figure};
  extremes->least = std::min(extremes->least, figure);
  extremes->most = std::max(extremes->most, figure);
}

using Samples = std::span<const TelemetrySample>;

/// The samples from one instant to another, both included.
Samples samples_between(const std::vector<TelemetrySample>& samples, Instant begin, Instant end) {
  const auto first = std::lower_bound(samples.begin(), samples.end(), begin,
                                      [](const TelemetrySample& sample, Instant at) { return sample.at < at; });
  const auto last =
      std::upper_bound(first, samples.end(), end, [](Instant at, const TelemetrySample& sample) { return at < sample.at; });
  return {first, last};
}

TelemetryExtremes extremes_of(Samples samples) {
  constexpr double watts_per_milliwatt = 1e-3;
  TelemetryExtremes extremes;
  extremes.samples = samples.size();
  for (const TelemetrySample& sample : samples) {
    widen(extremes.power_w, sample.power_mw, watts_per_milliwatt);
    widen(extremes.temperature_c, sample.temperature_c, 1);
    widen(extremes.sm_clock_mhz, sample.sm_clock_mhz, 1);
    widen(extremes.memory_clock_mhz, sample.memory_clock_mhz, 1);
    if (sample.clock_events) {
      extremes.clock_events =
          ClockEvents{extremes.clock_events.value_or(ClockEvents{}).bits | sample.clock_events.value().bits};
    }
  }
  return extremes;
}

Measured<WindowEnergy> window(const Measured<Reading>& first, const Measured<Reading>& last, nanoseconds tick) {
  if (first && last && last.value().at <= first.value().at) {
    return Fault{FaultKind::malformed, "two readings that are not one after the other are no window"};
  }
  const Measured<Microjoules> energy = energy_between(first, last, tick);
  if (!energy) return energy.fault();
  return WindowEnergy{first.value().at, last.value().at, energy.value()};
}

/// The part of the work where the device is in its stride.
Samples steady_samples(const std::vector<TelemetrySample>& samples, const Aggregate& work) {
  constexpr nanoseconds start_up = std::chrono::milliseconds(200);
  return samples_between(samples, work.begin + start_up, work.end);
}

/// The part of it where an averaged power has caught up too.
Samples samples_of_steady_power(const std::vector<TelemetrySample>& samples, const Aggregate& work) {
  constexpr nanoseconds averaging = std::chrono::milliseconds(1500);
  const Samples all = steady_samples(samples, work);
  const bool average = std::any_of(all.begin(), all.end(), [](const TelemetrySample& s) { return s.power_is_average; });
  return average ? samples_between(samples, work.begin + averaging, work.end) : all;
}

/// How much more the counter says than the power it goes with, where both can be compared: 0.1 is ten percent.
std::optional<double> counter_excess(Samples samples) {
  constexpr std::size_t least = 5;
  constexpr double joules_per_milliwatt_second = 1e-3;
  std::vector<const TelemetrySample*> both;
  for (const TelemetrySample& sample : samples) {
    if (sample.power_mw && sample.counter) both.push_back(&sample);
  }
  if (both.size() < least) return std::nullopt;
  double integrated = 0;
  for (std::size_t i = 1; i < both.size(); ++i) {
    const double milliwatts =
        (static_cast<double>(both[i - 1]->power_mw.value()) + static_cast<double>(both[i]->power_mw.value())) / 2;
    integrated += milliwatts * joules_per_milliwatt_second * seconds_of(both[i]->at - both[i - 1]->at);
  }
  const Measured<WindowEnergy> counted = window(both.front()->counter, both.back()->counter, {});
  if (!counted || integrated <= 0) return std::nullopt;
  return counted.value().joules() / integrated - 1;
}

std::vector<std::uint32_t> pids_in(Samples samples) {
  std::set<std::uint32_t> pids;
  for (const TelemetrySample& sample : samples) {
    if (!sample.processes) continue;
    for (const ComputeProcess& process : sample.processes.value()) pids.insert(process.pid);
  }
  return {pids.begin(), pids.end()};
}

/// Everything that one trial tells by itself.
class TrialEvaluation {
 public:
  TrialEvaluation(const ProtocolRun& run, const Trial& trial) : run_(run), trial_(trial) {}

  TrialMeasurement evaluate() {
    result_.number = trial_.number;
    result_.position = trial_.position;
    result_.repetitions = trial_.repetitions;
    result_.work_fault = trial_.work.fault;
    result_.begin = trial_.work.begin;
    result_.seconds = seconds_of(trial_.work.duration());
    result_.details = trial_.work.details;
    energies();
    result_.telemetry = extremes_of(samples_between(run_.samples, trial_.work.begin, trial_.work.end));
    if (result_.work_fault) flag(FlagKind::work_failed, result_.work_fault->reason);
    if (!result_.adjusted_j && run_.counter.kind != CounterKind::none && !result_.work_fault) {
      flag(FlagKind::energy_missing, result_.adjusted_j.fault().reason);
    }
    constexpr double near_enough = 0.95;
    const double wanted = seconds_of(run_.plan.trial_time);
    if (!result_.work_fault && result_.seconds < near_enough * wanted) {
      flag(FlagKind::short_trial, text("%.3f s of work, %.3f s were asked for", result_.seconds, wanted));
    }
    clocks();
    processes();
    processors();
    mismatch();
    return std::move(result_);
  }

 private:
  void flag(FlagKind kind, std::string what) { result_.flags.push_back({kind, std::move(what)}); }

  void energies() {
    const nanoseconds tick = run_.tick ? run_.tick.value().median() : nanoseconds{};
    result_.idle_before = window(trial_.edges[0], trial_.edges[1], {});
    result_.work_window = window(trial_.edges[1], trial_.edges[2], tick);
    result_.idle_after = window(trial_.edges[2], trial_.edges[3], {});
    for (const Measured<WindowEnergy>* part : {&result_.work_window, &result_.idle_before, &result_.idle_after}) {
      if (*part) continue;
      result_.raw_j = result_.idle_w = result_.adjusted_j = part->fault();
      return;
    }
    if (result_.work_fault) {
      result_.raw_j = result_.idle_w = result_.adjusted_j = *result_.work_fault;
      return;
    }
    const WindowEnergy& work = result_.work_window.value();
    const double idle = (result_.idle_before.value().watts() + result_.idle_after.value().watts()) / 2;
    const auto repetitions = static_cast<double>(trial_.repetitions);
    // The window begins a moment before the work and ends when power has fallen again; there the device idles.
    const double raw = work.joules() - idle * (work.seconds() - result_.seconds);
    result_.idle_w = idle;
    result_.raw_j = raw / repetitions;
    result_.adjusted_j = (raw - idle * result_.seconds) / repetitions;
  }

  void clocks() {
    constexpr double drop = 0.95;
    const Samples steady = steady_samples(run_.samples, trial_.work);
    const TelemetryExtremes extremes =
        extremes_of(steady.empty() ? samples_between(run_.samples, trial_.work.begin, trial_.work.end) : steady);
    if (extremes.clock_events) {
      const ClockEvents events = *extremes.clock_events;
      const std::string names = "clock events: " + to_string(events);
      if (events.power_capped()) flag(FlagKind::power_capped, names);
      if (events.thermal()) flag(FlagKind::thermal, names);
      if (events.slowed_down()) flag(FlagKind::hardware_slowdown, names);
    }
    if (extremes.sm_clock_mhz && extremes.sm_clock_mhz->least < drop * extremes.sm_clock_mhz->most) {
      flag(FlagKind::clock_drop,
           text("the clock fell from %.0f to %.0f MHz", extremes.sm_clock_mhz->most, extremes.sm_clock_mhz->least));
    }
  }

  /// Processes that were not there when sampling began; where the work is itself processes, only those beside it are told.
  void processes() {
    const auto listed = std::find_if(run_.samples.begin(), run_.samples.end(),
                                     [](const TelemetrySample& sample) { return sample.processes.has_value(); });
    if (listed == run_.samples.end()) return;
    const std::vector<std::uint32_t> known = pids_in({&*listed, 1});
    std::set<std::uint32_t> foreign;
    const auto add = [&](Samples samples) {
      for (const std::uint32_t pid : pids_in(samples)) {
        if (!std::binary_search(known.begin(), known.end(), pid)) foreign.insert(pid);
      }
    };
    const auto begin = trial_.edges[0] ? trial_.edges[0].value().at : trial_.work.begin;
    const auto end = trial_.edges[3] ? trial_.edges[3].value().at : trial_.work.end;
    if (run_.plan.work_in_processes) {
      add(samples_between(run_.samples, begin, trial_.work.begin));
      if (trial_.edges[2]) add(samples_between(run_.samples, trial_.edges[2].value().at, end));
    } else {
      add(samples_between(run_.samples, begin, end));
    }
    // One's own process has work there from the beginning on, unless the work is processes of its own.
    const std::size_t own = run_.plan.work_in_processes ? 0 : 1;
    if (known.size() > own) {
      flag(FlagKind::foreign_process, listed_pids({known.begin(), known.end()}) +
                                          " computed on the device from the beginning on" +
                                          (own == 0 ? "" : ", one of them perhaps this program"));
    }
    if (!foreign.empty()) flag(FlagKind::foreign_process, listed_pids(foreign) + " began to compute on the device");
  }

  static std::string listed_pids(const std::set<std::uint32_t>& pids) {
    std::string list;
    for (const std::uint32_t pid : pids) list += (list.empty() ? "" : ", ") + std::to_string(pid);
    return (pids.size() == 1 ? "process " : "processes ") + list;
  }

  /// Other programs on a CPU whose energy is counted. Little of it is always there, and idle power contains it.
  void processors() {
    constexpr double always = 0.1;
    constexpr double microseconds = 1e-6;
    if (run_.counter.scope == CounterScope::gpu_board || !trial_.edges[0] || !trial_.edges[3]) return;
    const Samples all = samples_between(run_.samples, trial_.edges[0].value().at, trial_.edges[3].value().at);
    if (all.size() < 2 || !all.front().busy_us || !all.back().busy_us || !all.front().own_us || !all.back().own_us) return;
    const double busy = static_cast<double>(all.back().busy_us.value()) - static_cast<double>(all.front().busy_us.value());
    const double own = static_cast<double>(all.back().own_us.value()) - static_cast<double>(all.front().own_us.value());
    const double others = (busy - own) * microseconds / seconds_of(all.back().at - all.front().at);
    if (others > always) flag(FlagKind::foreign_process, text("other programs kept %.2f CPUs busy", others));
  }

  void mismatch() {
    constexpr double limit = 0.1;
    constexpr double percent = 100;
    const Samples samples = samples_of_steady_power(run_.samples, trial_.work);
    const std::optional<double> excess = counter_excess(samples);
    if (!excess) return;
    // Both ends may be a tick old.
    const double ticks =
        run_.tick ? 2 * seconds_of(run_.tick.value().median()) / seconds_of(samples.back().at - samples.front().at) : 0;
    if (std::abs(*excess) > limit + ticks) {
      flag(FlagKind::counter_mismatch, text("the counter says %.1f %% %s than the integrated power",
                                            std::abs(*excess) * percent, *excess > 0 ? "more" : "less"));
    }
  }

  const ProtocolRun& run_;
  const Trial& trial_;
  TrialMeasurement result_;
};

Measured<double> stdev_of(const std::vector<double>& values) {
  if (values.size() >= 2) return sample_stdev(values);
  return Fault{FaultKind::not_enough, "a scatter needs two trials"};
}

Measured<Uncertainty95> uncertainty_of(const std::vector<double>& values, double common_variance) {
  if (values.size() < 2) return Fault{FaultKind::not_enough, "an uncertainty needs two trials"};
  const auto n = static_cast<double>(values.size());
  const double stdev = sample_stdev(values);
  // What all trials have in common shows in their scatter where it is random after all, and is not counted twice.
  const double common = std::sqrt(std::max(0.0, common_variance - stdev * stdev));
  const std::array<UncertaintyComponent, 2> components{{{stdev / std::sqrt(n), n - 1}, {common}}};
  const CombinedUncertainty combined = combine(components);
  return Uncertainty95{combined.expanded_95(), components[0].standard, common, combined.dof};
}

/// The largest step that the counter moved by all along. While power is even the ticks alone show coarser steps than it has.
Microjoules resolution_of(const ProtocolRun& run) {
  Microjoules step = run.tick.value().resolution;
  std::optional<Microjoules> base;
  const auto add = [&](const Measured<Reading>& reading) {
    if (!reading) return;
    const Microjoules energy = reading.value().energy;
    if (base)
      step = common_step(energy > *base ? Microjoules(checked_sub(energy.count(), base->count()))
                                        : Microjoules(checked_sub(base->count(), energy.count())),
                         step);
    base = energy;
  };
  for (const StageTrials& stage : run.stages) {
    for (const Trial& trial : stage.trials) {
      for (const Measured<Reading>& edge : trial.edges) add(edge);
    }
  }
  for (const TelemetrySample& sample : run.samples) add(sample.counter);
  return step;
}

class StageEvaluation {
 public:
  StageEvaluation(const ProtocolRun& run, const StageTrials& stage) : run_(run), stage_(stage) {}

  StageMeasurement evaluate() {
    result_.name = stage_.name;
    result_.fault = stage_.fault;
    result_.first_details = stage_.first_details;
    result_.trials_wanted = run_.plan.trials;
    for (const Trial& trial : stage_.trials) result_.trials.push_back(TrialEvaluation(run_, trial).evaluate());
    choose();
    const Fault none = nothing();
    result_.seconds = result_.seconds_stdev = result_.raw_j = result_.idle_w = result_.adjusted_j = result_.stdev_j = none;
    result_.seconds_95 = result_.adjusted_95 = none;
    result_.adjusted_range_j = none;
    times();
    energies();
    flags();
    return std::move(result_);
  }

 private:
  /// The trials that figures are of: with an energy where any has one, so that all figures are of the same ones.
  void choose() {
    for (const TrialMeasurement& trial : result_.trials) {
      if (!trial.work_fault) timed_.push_back(&trial);
      if (!trial.work_fault && trial.adjusted_j) counted_.push_back(&trial);
    }
    figures_of_ = counted_.empty() ? timed_ : counted_;
    for (const TrialMeasurement* trial : figures_of_) result_.repetitions += trial->repetitions;
  }

  /// Why there is no figure.
  Fault nothing() const {
    if (stage_.fault) return *stage_.fault;
    for (const TrialMeasurement& trial : result_.trials) {
      if (trial.work_fault) return *trial.work_fault;
      if (!trial.adjusted_j) return trial.adjusted_j.fault();
    }
    if (run_.ended_early) return *run_.ended_early;
    return {FaultKind::not_enough, "no trial is finished"};
  }

  void times() {
    if (figures_of_.empty()) return;
    double total = 0;
    std::vector<double> each;
    for (const TrialMeasurement* trial : figures_of_) {
      total += trial->seconds;
      each.push_back(trial->seconds / static_cast<double>(trial->repetitions));
    }
    seconds_ = total / static_cast<double>(result_.repetitions);
    result_.seconds = seconds_;
    result_.seconds_stdev = stdev_of(each);
    result_.seconds_95 = uncertainty_of(each, 0);
  }

  void energies() {
    if (counted_.empty()) return;
    double raw = 0;
    std::vector<double> idle;
    std::vector<double> adjusted;
    for (const TrialMeasurement* trial : counted_) {
      raw += trial->raw_j.value() * static_cast<double>(trial->repetitions);
      idle.push_back(trial->idle_before.value().watts());
      idle.push_back(trial->idle_after.value().watts());
      adjusted.push_back(trial->adjusted_j.value());
    }
    raw /= static_cast<double>(result_.repetitions);
    const auto [least, most] = std::minmax_element(idle.begin(), idle.end());
    result_.raw_j = raw;
    result_.idle_w = mean(idle);
    result_.adjusted_j = raw - mean(idle) * seconds_;
    result_.adjusted_range_j = Extremes{raw - *most * seconds_, raw - *least * seconds_};
    result_.stdev_j = stdev_of(adjusted);
    result_.resolution_variance = resolution_variance();
    result_.adjusted_95 = uncertainty_of(adjusted, result_.resolution_variance);
  }

  /// Of a trial's adjusted energy per repetition, from the counter's steps at the four edges.
  double resolution_variance() const {
    const TrialMeasurement& trial = *counted_.front();
    const double step = static_cast<double>(run_.tick.value().resolution.count()) * 1e-6;
    const double work = trial.work_window.value().seconds();
    const double before = work / (2 * trial.idle_before.value().seconds());
    const double after = work / (2 * trial.idle_after.value().seconds());
    // Edge by edge: the step's weight in E(e1..e2) - T (W(e0..e1) + W(e2..e3)) / 2.
    const double weights = before * before + (1 + before) * (1 + before) + (1 + after) * (1 + after) + after * after;
    const auto repetitions = static_cast<double>(trial.repetitions);
    return step * step / 12 * weights / (repetitions * repetitions);
  }

  void flag(FlagKind kind, std::string what) { result_.flags.push_back({kind, std::move(what)}); }

  void flags() {
    far_from_the_others();
    clocks_of_trials();
    temperatures();
    idle_drift();
    settling();
    const std::size_t finished = timed_.size();
    std::set<FlagKind> of_stage;
    if (!stage_.fault && result_.trials.size() < run_.plan.trials) {
      flag(FlagKind::trials_missing, std::to_string(result_.trials.size()) + " of " + std::to_string(run_.plan.trials) +
                                         " trials are finished" +
                                         (run_.ended_early ? ": " + run_.ended_early->reason : std::string()));
    }
    if (stage_.fault) flag(FlagKind::work_failed, stage_.fault->reason);
    if (finished < result_.trials.size()) {
      flag(FlagKind::work_failed, std::to_string(result_.trials.size() - finished) + " of " +
                                      std::to_string(result_.trials.size()) + " trials failed and are in no figure" +
                                      first_of(FlagKind::work_failed));
    }
    if (run_.counter.kind != CounterKind::none && counted_.size() < timed_.size()) {
      flag(FlagKind::energy_missing, std::to_string(timed_.size() - counted_.size()) + " of " + std::to_string(timed_.size()) +
                                         " trials have no energy" + (counted_.empty() ? "" : " and are in no figure") +
                                         first_of(FlagKind::energy_missing));
    }
    for (const Flag& known : result_.flags) of_stage.insert(known.kind);
    for (const TrialMeasurement& trial : result_.trials) {
      for (const Flag& of_trial : trial.flags) {
        if (of_stage.insert(of_trial.kind).second) {
          flag(of_trial.kind, "trial " + std::to_string(trial.number) + ": " + of_trial.text);
        }
      }
    }
  }

  /// What the first trial with this flag says: "; trial 2: exited with status 3".
  std::string first_of(FlagKind kind) const {
    for (const TrialMeasurement& trial : result_.trials) {
      for (const Flag& known : trial.flags) {
        if (known.kind == kind) return "; trial " + std::to_string(trial.number) + ": " + known.text;
      }
    }
    return {};
  }

  void far_from_the_others() {
    std::vector<double> times;
    std::vector<double> energies;
    for (const TrialMeasurement* trial : figures_of_) times.push_back(trial->seconds / static_cast<double>(trial->repetitions));
    for (const TrialMeasurement* trial : counted_) energies.push_back(trial->adjusted_j.value());
    const auto mark = [&](const std::vector<const TrialMeasurement*>& trials, const std::vector<bool>& far, const char* what) {
      for (std::size_t i = 0; i < trials.size(); ++i) {
        if (far[i]) {
          result_.trials[static_cast<std::size_t>(trials[i] - result_.trials.data())].flags.push_back(
              {FlagKind::outlier, std::string(what) + " is far from the other trials'"});
        }
      }
    };
    mark(figures_of_, outliers(times), "its time");
    mark(counted_, outliers(energies), "its energy");
  }

  void temperatures() {
    constexpr double limit = 5;
    std::optional<Extremes> means;
    for (const TrialMeasurement& trial : result_.trials) {
      if (!trial.telemetry.temperature_c) continue;
      const double middle = (trial.telemetry.temperature_c->least + trial.telemetry.temperature_c->most) / 2;
      if (!means) means = Extremes{middle, middle};
      means->least = std::min(means->least, middle);
      means->most = std::max(means->most, middle);
    }
    if (means && means->most - means->least > limit) {
      flag(FlagKind::temperature_drift, text("trials were done at %.0f to %.0f °C", means->least, means->most));
    }
  }

  /// A clock that is low in a whole trial shows only beside the others.
  void clocks_of_trials() {
    constexpr double drop = 0.95;
    double most = 0;
    for (const TrialMeasurement& trial : result_.trials) {
      if (trial.telemetry.sm_clock_mhz) most = std::max(most, trial.telemetry.sm_clock_mhz->most);
    }
    for (TrialMeasurement& trial : result_.trials) {
      if (!trial.telemetry.sm_clock_mhz || trial.telemetry.sm_clock_mhz->most >= drop * most) continue;
      trial.flags.push_back({FlagKind::clock_drop, text("the clock was at most %.0f MHz, %.0f in another trial",
                                                        trial.telemetry.sm_clock_mhz->most, most)});
    }
  }

  /// Where idle power jumps with the work, the baseline during the work is not known better than the jump.
  void idle_drift() {
    constexpr double upper = 0.975;
    constexpr double matters = 0.01;
    if (counted_.size() < 3 || !result_.adjusted_j) return;
    std::vector<double> jumps;
    for (const TrialMeasurement* trial : counted_) {
      jumps.push_back(trial->idle_after.value().watts() - trial->idle_before.value().watts());
    }
    const auto n = static_cast<double>(jumps.size());
    const double jump = mean(jumps);
    const double half_width = student_t_quantile(upper, n - 1) * sample_stdev(jumps) / std::sqrt(n);
    const double effect = std::abs(jump) / 2 * seconds_;
    if (std::abs(jump) > half_width && effect > matters * std::abs(result_.adjusted_j.value())) {
      flag(FlagKind::idle_drift,
           text("idle power after the work is %.3g W %s than before it", std::abs(jump), jump > 0 ? "higher" : "lower"));
    }
  }

  /// What the device drew at least above its later idle power in the first part of the idle window after the work, by the
  /// samples' readings of the counter. Nothing where there are too few.
  std::optional<double> tail_j(const TrialMeasurement& trial) const {
    constexpr nanoseconds longest_part = std::chrono::seconds(1);
    const WindowEnergy& idle = trial.idle_after.value();
    const nanoseconds part = std::min<nanoseconds>(longest_part, (idle.end - idle.begin) / 2);
    for (const TelemetrySample& sample : samples_between(run_.samples, idle.begin + part, idle.end)) {
      if (!sample.counter) continue;
      const Reading& middle = sample.counter.value();
      const Wide end_of_work = energy_at_end_of_work(trial);
      if (middle.energy.count() < end_of_work) return std::nullopt;
      const double late_s = seconds_of(idle.end - middle.at);
      const double early_j = static_cast<double>(middle.energy.count() - end_of_work) * 1e-6;
      const double late_j = idle.joules() - early_j;
      if (late_s <= 0 || late_j < 0) return std::nullopt;
      // The reading is up to a tick old; as if it were of now, the early part seems to have taken longer and used less.
      return early_j - late_j / late_s * seconds_of(middle.at - idle.begin);
    }
    return std::nullopt;
  }

  Wide energy_at_end_of_work(const TrialMeasurement& trial) const {
    for (const Trial& seen : stage_.trials) {
      if (seen.number == trial.number) return seen.edges[2].value().energy.count();
    }
    check(false, "every evaluated trial was seen");
    return 0;
  }

  void settling() {
    constexpr double upper = 0.975;
    constexpr double matters = 0.5;  // of the stated uncertainty
    constexpr double percent = 100;
    if (counted_.size() < 3 || !result_.adjusted_95) return;
    std::vector<double> tails;
    double work_j = 0;
    double stated_j = 0;
    for (const TrialMeasurement* trial : counted_) {
      const std::optional<double> tail = tail_j(*trial);
      if (!tail) return;
      tails.push_back(*tail);
      work_j += std::abs(trial->adjusted_j.value()) * static_cast<double>(trial->repetitions);
      stated_j += result_.adjusted_95.value().expanded * static_cast<double>(trial->repetitions);
    }
    const auto n = static_cast<double>(tails.size());
    const double tail = mean(tails);
    const double half_width = student_t_quantile(upper, n - 1) * sample_stdev(tails) / std::sqrt(n);
    if (tail > half_width && tail > matters * stated_j / n) {
      flag(FlagKind::still_settling,
           text("power was still falling after the work's window, which lacks at least %.1f %%; settle longer",
                tail / (work_j / n) * percent));
    }
  }

  const ProtocolRun& run_;
  const StageTrials& stage_;
  std::vector<const TrialMeasurement*> timed_, counted_, figures_of_;
  double seconds_ = 0;
  StageMeasurement result_;
};

/// Of pairs of values; the ratio's interval follows from the differences second - ratio * first.
Measured<Comparison::Figures> compare_pairs(const std::vector<std::pair<double, double>>& pairs, double common_variance_first,
                                            double common_variance_second) {
  if (pairs.size() < 2) return Fault{FaultKind::not_enough, "a comparison needs two rounds that both finished"};
  std::vector<double> first;
  std::vector<double> second;
  std::vector<double> differences;
  for (const auto& [a, b] : pairs) {
    first.push_back(a);
    second.push_back(b);
    differences.push_back(b - a);
  }
  const double base = mean(first);
  Comparison::Figures figures;
  figures.difference = mean(differences);
  figures.difference_95 = uncertainty_of(differences, common_variance_first + common_variance_second).value().expanded;
  if (base == 0) return Fault{FaultKind::not_enough, "the first one's mean is zero, which gives no ratio"};
  figures.ratio = mean(second) / base;
  std::vector<double> residuals;
  for (const auto& [a, b] : pairs) residuals.push_back(b - figures.ratio * a);
  const double of_residuals = common_variance_second + figures.ratio * figures.ratio * common_variance_first;
  figures.ratio_95 = uncertainty_of(residuals, of_residuals).value().expanded / std::abs(base);
  return figures;
}

}  // namespace

const char* flag_name(FlagKind kind) {
  switch (kind) {
    case FlagKind::power_capped: return "power_capped";
    case FlagKind::thermal: return "thermal";
    case FlagKind::hardware_slowdown: return "hardware_slowdown";
    case FlagKind::clock_drop: return "clock_drop";
    case FlagKind::temperature_drift: return "temperature_drift";
    case FlagKind::idle_drift: return "idle_drift";
    case FlagKind::still_settling: return "still_settling";
    case FlagKind::foreign_process: return "foreign_process";
    case FlagKind::counter_mismatch: return "counter_mismatch";
    case FlagKind::outlier: return "outlier";
    case FlagKind::short_trial: return "short_trial";
    case FlagKind::work_failed: return "work_failed";
    case FlagKind::energy_missing: return "energy_missing";
    case FlagKind::trials_missing: return "trials_missing";
  }
  check(false, "every flag has a name");
  return "";
}

Measurement evaluate(const ProtocolRun& seen) {
  ProtocolRun run = seen;
  if (run.tick) run.tick.value().resolution = resolution_of(seen);
  Measurement measurement{run.plan, run.counter, run.tick, {}, run.samples, run.ended_early};
  for (const StageTrials& stage : run.stages) measurement.stages.push_back(StageEvaluation(run, stage).evaluate());
  return measurement;
}

Comparison compare(const StageMeasurement& first, const StageMeasurement& second) {
  std::vector<std::pair<double, double>> seconds;
  std::vector<std::pair<double, double>> joules;
  Fault no_energy{FaultKind::not_enough, "no round was finished by both"};
  std::uint64_t pairs = 0;
  for (const TrialMeasurement& a : first.trials) {
    for (const TrialMeasurement& b : second.trials) {
      if (a.number != b.number || a.work_fault || b.work_fault) continue;
      ++pairs;
      seconds.emplace_back(a.seconds / static_cast<double>(a.repetitions), b.seconds / static_cast<double>(b.repetitions));
      if (a.adjusted_j && b.adjusted_j) {
        joules.emplace_back(a.adjusted_j.value(), b.adjusted_j.value());
      } else {
        no_energy = a.adjusted_j ? b.adjusted_j.fault() : a.adjusted_j.fault();
      }
    }
  }
  Comparison comparison{first.name, second.name, pairs, no_energy, no_energy};
  comparison.seconds = compare_pairs(seconds, 0, 0);
  if (!joules.empty()) {
    comparison.adjusted_j = compare_pairs(joules, first.resolution_variance, second.resolution_variance);
  }
  return comparison;
}

}  // namespace joulegrid
