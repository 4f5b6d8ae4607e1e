#include "joulegrid/measure/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "joulegrid/base/random.h"
#include "joulegrid/measure/simulated_device.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Of the table in JCGM 100:2008, G.2, to the digits printed there, and of NIST's handbook, 1.3.6.7.2.
constexpr double t_of_1 = 12.706;
constexpr double t_of_2 = 4.303;
constexpr double t_of_4 = 2.776;
constexpr double of_normal = 1.96;
constexpr double half_of_last_digit = 0.0005;

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}
TimeSource::Instant at(double seconds) { return TimeSource::Instant(nanoseconds(seconds)); }
Microjoules microjoules(double joules) { return Microjoules(static_cast<Wide>(std::llround(joules * 1e6))); }

constexpr double lead_s = 0.1;  ///< from the window's begin to the work's
constexpr double tail_s = 0.4;  ///< from the work's end to the window's

/// What the counter shows over the three windows of a trial.
struct WindowFacts {
  double before_j = 300;
  double window_j = 1230;  ///< from 0.1 s before the work to 0.4 s after it
  double after_j = 300;
  double work_s = 4;
  double before_s = 5;
  double after_s = 5;
};

/// A trial of ten repetitions that begins 100 s after the one before.
Trial trial_of(std::uint64_t number, const WindowFacts& facts) {
  Trial trial;
  trial.number = trial.position = number;
  trial.repetitions = 10;
  const double begin = 100.0 * static_cast<double>(number);
  const double work = begin + facts.before_s + lead_s;
  const double end = work + facts.work_s + tail_s;
  trial.edges[0] = Reading{microjoules(1000), at(begin), {}};
  trial.edges[1] = Reading{microjoules(1000 + facts.before_j), at(begin + facts.before_s), {}};
  trial.edges[2] = Reading{microjoules(1000 + facts.before_j + facts.window_j), at(end), {}};
  trial.edges[3] = Reading{microjoules(1000 + facts.before_j + facts.window_j + facts.after_j), at(end + facts.after_s), {}};
  trial.work.begin = at(work);
  trial.work.end = at(work + facts.work_s);
  return trial;
}

/// A run of one stage, measured with an NVML counter that changes every 20 ms by multiples of `step_uj`.
ProtocolRun run_of(const std::vector<WindowFacts>& trials, std::uint64_t step_uj = 1) {
  ProtocolRun run;
  run.plan.trials = trials.size();
  run.plan.trial_time = 4s;
  run.counter.kind = CounterKind::nvml;
  Tick tick;
  tick.intervals = {20ms, 20ms, 20ms};
  tick.resolution = tick.smallest_change = Microjoules(step_uj);
  run.tick = tick;
  run.stages.resize(1);
  run.stages[0].name = "work";
  run.stages[0].repetitions = 10;
  for (const WindowFacts& facts : trials) run.stages[0].trials.push_back(trial_of(run.stages[0].trials.size() + 1, facts));
  return run;
}

StageMeasurement stage_of(const ProtocolRun& run) { return evaluate(run).stages.at(0); }

// Idle before and after 60 and 62 W, so 61; half a second of it is in the window beside the work: 1230.5 - 30.5 = 1200 J, or
// 120 J each, less 61 W over 0.4 s: 95.6 J. In the other trial 58 and 60 W: (1189.5 - 29.5) / 10 - 59 * 0.4 = 92.4 J.
std::vector<WindowFacts> two_trials() { return {{300, 1230.5, 310}, {290, 1189.5, 300}}; }

TEST(TrialFigures, are_those_worked_out_by_hand) {
  const StageMeasurement stage = stage_of(run_of(two_trials()));
  ASSERT_EQ(stage.trials.size(), 2U);
  const TrialMeasurement& first = stage.trials[0];
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(first.repetitions, 10U);
  EXPECT_DOUBLE_EQ(first.seconds, 4);
  EXPECT_EQ(first.begin, at(105.1));
  EXPECT_DOUBLE_EQ(first.idle_before.value().watts(), 60);
  EXPECT_DOUBLE_EQ(first.idle_after.value().watts(), 62);
  EXPECT_DOUBLE_EQ(first.work_window.value().seconds(), 4.5);
  EXPECT_DOUBLE_EQ(first.work_window.value().joules(), 1230.5);
  EXPECT_DOUBLE_EQ(first.idle_w.value(), 61);
  EXPECT_DOUBLE_EQ(first.raw_j.value(), 120);
  EXPECT_DOUBLE_EQ(first.adjusted_j.value(), 95.6);
  EXPECT_DOUBLE_EQ(stage.trials[1].idle_w.value(), 59);
  EXPECT_DOUBLE_EQ(stage.trials[1].raw_j.value(), 116);
  EXPECT_DOUBLE_EQ(stage.trials[1].adjusted_j.value(), 92.4);
}

TEST(StageFigures, of_two_trials_are_those_worked_out_by_hand) {
  const StageMeasurement stage = stage_of(run_of(two_trials()));
  EXPECT_EQ(stage.repetitions, 20U);
  EXPECT_EQ(stage.trials_wanted, 2U);
  EXPECT_DOUBLE_EQ(stage.seconds.value(), 0.4);
  EXPECT_DOUBLE_EQ(stage.raw_j.value(), 118);
  EXPECT_DOUBLE_EQ(stage.idle_w.value(), 60);                    // mean of 60, 62, 58, 60
  EXPECT_DOUBLE_EQ(stage.adjusted_j.value(), 94);                // 118 - 60 * 0.4
  EXPECT_DOUBLE_EQ(stage.adjusted_range_j.value().least, 93.2);  // 118 - 62 * 0.4
  EXPECT_DOUBLE_EQ(stage.adjusted_range_j.value().most, 94.8);   // 118 - 58 * 0.4
  EXPECT_NEAR(stage.stdev_j.value(), 3.2 / std::numbers::sqrt2, 1e-9);
  const Uncertainty95& uncertainty = stage.adjusted_95.value();
  EXPECT_NEAR(uncertainty.standard_trials, 1.6, 1e-9);
  EXPECT_EQ(uncertainty.standard_common, 0);
  EXPECT_DOUBLE_EQ(uncertainty.dof, 1);
  EXPECT_NEAR(uncertainty.expanded, t_of_1 * 1.6, half_of_last_digit * 1.6);
  EXPECT_NEAR(stage.seconds_95.value().expanded, 0, 1e-12);
}

// Without idle power every figure is that of the raw energy: 10, 11, 12, 13 and 14 J and 0.40, 0.41, 0.42, 0.43 and 0.44 s
// each. Their standard deviation is the square root of 2.5 steps.
TEST(StageFigures, of_five_trials_have_four_degrees_of_freedom) {
  std::vector<WindowFacts> trials;
  for (int i = 0; i < 5; ++i) trials.push_back({0, 100.0 + 10 * i, 0, 4 + 0.1 * i});
  const StageMeasurement stage = stage_of(run_of(trials));
  EXPECT_DOUBLE_EQ(stage.seconds.value(), 0.42);
  EXPECT_NEAR(stage.seconds_stdev.value(), 0.01 * std::sqrt(2.5), 1e-12);
  EXPECT_NEAR(stage.seconds_95.value().expanded, t_of_4 * 0.01 * std::sqrt(0.5), half_of_last_digit * 0.01);
  EXPECT_DOUBLE_EQ(stage.raw_j.value(), 12);
  EXPECT_DOUBLE_EQ(stage.idle_w.value(), 0);
  EXPECT_DOUBLE_EQ(stage.adjusted_j.value(), 12);
  EXPECT_NEAR(stage.stdev_j.value(), std::sqrt(2.5), 1e-9);
  EXPECT_DOUBLE_EQ(stage.adjusted_95.value().dof, 4);
  EXPECT_NEAR(stage.adjusted_95.value().expanded, t_of_4 * std::sqrt(0.5), half_of_last_digit);
}

TEST(StageFigures, of_one_trial_have_no_scatter) {
  const StageMeasurement stage = stage_of(run_of({two_trials()[0]}));
  EXPECT_DOUBLE_EQ(stage.adjusted_j.value(), 95.6);
  EXPECT_EQ(stage.stdev_j.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(stage.adjusted_95.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(stage.seconds_stdev.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(stage.seconds_95.fault().kind, FaultKind::not_enough);
}

// The published A100 figures of strict_fp32: 435 repetitions in 25.206 s. Its windows are those of the published range,
// rounded to microjoules: 0.1 µW, which is 6e-9 J in the time of a repetition.
TEST(StageFigures, are_the_published_ones_for_the_published_readings) {
  const double seconds = 0.05794544174942529;
  const double raw = 19.693367816091953;
  const double most_w = (raw - 15.649922490504519) / seconds;
  const double least_w = (raw - 15.86483742295576) / seconds;
  ProtocolRun run = run_of({{}});
  Trial& trial = run.stages[0].trials[0];
  trial.repetitions = 435;
  trial.work = {at(1005), at(1005 + 435 * seconds), {}, {}};
  trial.edges[0] = Reading{microjoules(1000), at(1000), {}};
  trial.edges[1] = Reading{microjoules(1000 + 5 * least_w), trial.work.begin, {}};
  trial.edges[2] = Reading{trial.edges[1].value().energy + microjoules(435 * raw), trial.work.end, {}};
  trial.edges[3] = Reading{trial.edges[2].value().energy + microjoules(5 * most_w), trial.work.end + 5s, {}};
  const StageMeasurement stage = stage_of(run);
  EXPECT_EQ(stage.repetitions, 435U);
  EXPECT_NEAR(stage.seconds.value(), seconds, 2e-12);
  EXPECT_NEAR(stage.raw_j.value(), raw, 2e-9);
  EXPECT_NEAR(stage.idle_w.value(), 67.92575465007738, 2e-7);
  EXPECT_NEAR(stage.adjusted_j.value(), 15.75737995673014, 1e-8);
  EXPECT_NEAR(stage.adjusted_range_j.value().least, 15.649922490504519, 1e-8);
  EXPECT_NEAR(stage.adjusted_range_j.value().most, 15.86483742295576, 1e-8);
}

/// Standard deviation of what whole steps of `step_j` make of the adjusted energy of a repetition: trials whose true energies
/// at the four edges are anywhere within a step, once as they are and once as the counter shows them.
double scatter_of_quantised_edges(const WindowFacts& facts, double step_j) {
  SplitMix64 random(1);
  constexpr int draws = 40'000;
  const double window_s = lead_s + facts.work_s + tail_s;
  const auto adjusted = [&](const std::array<double, 4>& e) {
    const double idle_w = ((e[1] - e[0]) / facts.before_s + (e[3] - e[2]) / facts.after_s) / 2;
    return (e[2] - e[1] - idle_w * window_s) / 10;
  };
  double squares = 0;
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    std::array<double, 4> energies{0, facts.before_j, facts.before_j + facts.window_j,
                                   facts.before_j + facts.window_j + facts.after_j};
    std::array<double, 4> shown{};
    for (std::size_t edge = 0; edge < 4; ++edge) {
      energies[edge] += 100 * random.uniform() * step_j;
      shown[edge] = std::floor(energies[edge] / step_j) * step_j;
    }
    const double off = adjusted(shown) - adjusted(energies);
    sum += off;
    squares += off * off;
  }
  return std::sqrt(squares / draws - sum / draws * (sum / draws));
}

TEST(CommonUncertainty, of_equal_trials_is_what_the_counters_steps_can_hide) {
  WindowFacts facts;
  facts.before_s = 5;
  facts.after_s = 6;
  facts.after_j = 360;
  const StageMeasurement stage = stage_of(run_of({facts, facts, facts}, 1'000'000));
  const Uncertainty95& uncertainty = stage.adjusted_95.value();
  const double expected = scatter_of_quantised_edges(facts, 1);
  // By hand: 4.5 s of work over ten and twelve seconds, 0.45^2 + 1.45^2 + 1.375^2 + 0.375^2 = 4.33625 steps' variances.
  EXPECT_NEAR(expected, std::sqrt(4.33625 / 12) / 10, 0.02 * expected);
  EXPECT_NEAR(uncertainty.standard_common, expected, 0.02 * expected);
  EXPECT_NEAR(uncertainty.standard_trials, 0, 1e-12);
  EXPECT_NEAR(uncertainty.expanded, of_normal * uncertainty.standard_common, 0.0001 * uncertainty.expanded);
}

TEST(CommonUncertainty, is_not_counted_where_trials_scatter_by_it) {
  WindowFacts facts;
  facts.after_s = 6;
  facts.after_j = 360;
  WindowFacts other = facts;
  other.before_j += 1;  // one step, 4.5 s / 2 / 5 s of it: 0.045 J a repetition, 0.0225 J of the mean
  const Uncertainty95 mixed = stage_of(run_of({facts, other}, 1'000'000)).adjusted_95.value();
  EXPECT_NEAR(mixed.standard_trials, 0.0225, 1e-9);
  const double common_variance = 4.33625 / 1200 - 0.045 * 0.045 / 2;
  EXPECT_NEAR(mixed.standard_common, std::sqrt(common_variance), 1e-9);
  // Welch and Satterthwaite by hand; t between the table's 2.042 (30) and 2.021 (40).
  const double variance = 0.0225 * 0.0225 + common_variance;
  EXPECT_NEAR(mixed.dof, 37.673, 0.001);
  EXPECT_NEAR(mixed.expanded, 2.0249 * std::sqrt(variance), 0.0001);
  other = facts;
  other.window_j += 1;  // 0.1 J a repetition, more than the steps make
  EXPECT_EQ(stage_of(run_of({facts, other}, 1'000'000)).adjusted_95.value().standard_common, 0);
}

TEST(Figures, are_of_the_trials_that_have_an_energy) {
  ProtocolRun run = run_of({{300, 1230, 300}, {300, 1230, 300, 4.4}, {300, 1430, 300}});
  run.stages[0].trials[1].edges[3] = Fault{FaultKind::device_lost, "gone"};
  const StageMeasurement stage = stage_of(run);
  EXPECT_EQ(stage.repetitions, 20U);
  EXPECT_DOUBLE_EQ(stage.seconds.value(), 0.4);  // without the 0.44 s of the one that is in no energy
  EXPECT_DOUBLE_EQ(stage.raw_j.value(), 130);
  EXPECT_EQ(stage.trials[1].adjusted_j.fault().kind, FaultKind::device_lost);
}

TEST(Figures, of_a_counter_that_stood_still_under_load_are_missing) {
  const StageMeasurement stage = stage_of(run_of({{300, 0, 300}, {300, 1230, 300}}));
  EXPECT_EQ(stage.trials[0].raw_j.fault().kind, FaultKind::zero_delta);
  EXPECT_DOUBLE_EQ(stage.raw_j.value(), 120);
}

TEST(Figures, of_readings_in_the_wrong_order_are_missing) {
  ProtocolRun run = run_of({{}, {}});
  std::swap(run.stages[0].trials[0].edges[2], run.stages[0].trials[0].edges[3]);
  run.stages[0].trials[1].edges[0] = run.stages[0].trials[1].edges[1];
  const StageMeasurement stage = stage_of(run);
  EXPECT_EQ(stage.trials[0].adjusted_j.fault().kind, FaultKind::malformed);
  EXPECT_EQ(stage.trials[1].adjusted_j.fault().kind, FaultKind::malformed);
  EXPECT_EQ(stage.adjusted_j.fault().kind, FaultKind::malformed);
}

// ---- Flags ----

TelemetrySample sample_at(double seconds, double power_w, double counter_j) {
  TelemetrySample sample = TelemetrySample::missing(at(seconds), {FaultKind::not_supported, "not told"});
  sample.power_mw = static_cast<std::uint64_t>(std::llround(power_w * 1000));
  sample.temperature_c = std::int64_t{40};
  sample.sm_clock_mhz = std::uint64_t{1400};
  sample.memory_clock_mhz = std::uint64_t{1593};
  sample.clock_events = ClockEvents{};
  sample.processes = std::vector<ComputeProcess>{{100, 0}};
  sample.counter = Reading{microjoules(counter_j), at(seconds), {}};
  return sample;
}

/// Five equal trials with a sample every 0.1 s, 300 W during the work and 60 W idle, that raise no flag. `counter_factor` is
/// what the counter shows for what the power says.
ProtocolRun sampled_run(double counter_factor = 1) {
  ProtocolRun run = run_of(std::vector<WindowFacts>(5));
  for (const Trial& trial : run.stages[0].trials) {
    const double begin = 100.0 * static_cast<double>(trial.number) + 0.05;  // between the edges
    const Reading& first = trial.edges[0].value();
    const auto work_before = [&](TimeSource::Instant now) {
      return std::chrono::duration<double>(std::clamp(now, trial.work.begin, trial.work.end) - trial.work.begin).count();
    };
    for (int i = -20; i < 150; ++i) {
      const double time = begin + 0.1 * i;
      const bool works = at(time) >= trial.work.begin && at(time) <= trial.work.end;
      const double joules = static_cast<double>(first.energy.count()) * 1e-6 +
                            60 * std::chrono::duration<double>(at(time) - first.at).count() + 240 * work_before(at(time));
      run.samples.push_back(sample_at(time, (works ? 300 : 60) / counter_factor, joules));
    }
  }
  return run;
}

/// The sample that was taken so long after the work of that trial began, or before it.
TelemetrySample& sample_of(ProtocolRun& run, std::uint64_t number, double after_begin) {
  const TimeSource::Instant wanted = run.stages[0].trials[number - 1].work.begin + nanoseconds(after_begin);
  for (TelemetrySample& sample : run.samples) {
    if (sample.at >= wanted) return sample;
  }
  throw std::logic_error("no such sample");
}

std::vector<FlagKind> kinds_of(const std::vector<Flag>& flags) {
  std::vector<FlagKind> kinds;
  for (const Flag& flag : flags) {
    EXPECT_FALSE(flag.text.empty());
    kinds.push_back(flag.kind);
  }
  return kinds;
}

TEST(Flags, a_run_without_anything_strange_has_none) {
  const StageMeasurement stage = stage_of(sampled_run());
  EXPECT_THAT(kinds_of(stage.flags), ElementsAre());
  for (const TrialMeasurement& trial : stage.trials) EXPECT_THAT(kinds_of(trial.flags), ElementsAre());
  EXPECT_EQ(stage.trials[0].telemetry.samples, 40U);
  EXPECT_EQ(stage.trials[0].telemetry.power_w->least, 300);
  EXPECT_EQ(stage.trials[0].telemetry.power_w->most, 300);
  EXPECT_EQ(stage.trials[0].telemetry.sm_clock_mhz->least, 1400);
  EXPECT_EQ(stage.trials[0].telemetry.memory_clock_mhz->most, 1593);
  EXPECT_EQ(stage.trials[0].telemetry.clock_events, ClockEvents{});
}

using Change = std::function<void(ProtocolRun&)>;

void set_idle(ProtocolRun& run, double before_w, const std::vector<double>& after_w) {
  for (std::size_t i = 0; i < after_w.size(); ++i) {
    // The work's own 1200 J stay.
    run.stages[0].trials[i] =
        trial_of(i + 1, {5 * before_w, 1200 + (lead_s + tail_s) * (before_w + after_w[i]) / 2, 5 * after_w[i]});
  }
}

void set_adjusted(ProtocolRun& run, const std::vector<double>& joules) {
  for (std::size_t i = 0; i < joules.size(); ++i) run.stages[0].trials[i] = trial_of(i + 1, {0, 10 * joules[i], 0});
}

void list_everywhere(ProtocolRun& run, const std::vector<std::uint32_t>& pids) {
  std::vector<ComputeProcess> processes;
  for (const std::uint32_t pid : pids) processes.push_back({pid, 0});
  for (TelemetrySample& sample : run.samples) sample.processes = processes;
}

struct FlagCase {
  const char* name;
  FlagKind kind;
  Change above;  ///< the least that raises it
  Change below;  ///< the most that does not
};

void PrintTo(const FlagCase& flag_case, std::ostream* out) { *out << flag_case.name; }

std::vector<FlagCase> flag_cases() {
  const auto event = [](std::uint64_t bits, double after_begin) {
    return [=](ProtocolRun& run) { sample_of(run, 2, after_begin).clock_events = ClockEvents{bits}; };
  };
  const auto of_average = [](const Change& change) {
    return [=](ProtocolRun& run) {
      for (TelemetrySample& sample : run.samples) sample.power_is_average = true;
      change(run);
    };
  };
  const auto clock = [](std::uint64_t mhz, double after_begin) {
    return [=](ProtocolRun& run) { sample_of(run, 2, after_begin).sm_clock_mhz = mhz; };
  };
  const auto temperature = [](std::int64_t celsius) {
    return [=](ProtocolRun& run) {
      for (double s = 0; s < 3.95; s += 0.1) sample_of(run, 5, s).temperature_c = celsius;
    };
  };
  const auto process = [](double after_begin, bool in_processes) {
    return [=](ProtocolRun& run) {
      run.plan.work_in_processes = in_processes;
      if (in_processes) list_everywhere(run, {});
      sample_of(run, 3, after_begin).processes = std::vector<ComputeProcess>{{100, 0}, {4711, 1}};
    };
  };
  const auto from_the_beginning = [](const std::vector<std::uint32_t>& pids, bool in_processes) {
    return [=](ProtocolRun& run) {
      run.plan.work_in_processes = in_processes;
      list_everywhere(run, pids);
    };
  };
  const auto late_power = [](ProtocolRun& run) {
    for (double s = 0; s < 1.4; s += 0.1) sample_of(run, 2, s).power_mw = std::uint64_t{150'000};
  };
  const auto factor = [](double counter_factor) { return [=](ProtocolRun& run) { run = sampled_run(counter_factor); }; };
  return {
      {"software_power_cap", FlagKind::power_capped, event(0x4, 1), event(0x1 | 0x2, 1)},
      {"power_brake", FlagKind::power_capped, event(0x80, 3.8), event(0x80, 4.1)},            // after the work
      {"power_cap_at_the_start", FlagKind::power_capped, event(0x4, 0.25), event(0x4, 0.1)},  // ramps are no news
      {"power_cap_beside_an_average_power", FlagKind::power_capped, of_average(event(0x4, 0.25)), of_average(event(0x4, 0.1))},
      {"software_thermal", FlagKind::thermal, event(0x20, 1), event(0x20, -0.2)},
      {"hardware_thermal", FlagKind::thermal, event(0x40, 1), event(0x2, 1)},
      {"hardware_slowdown", FlagKind::hardware_slowdown, event(0x8, 1), event(0x1, 1)},
      {"clock", FlagKind::clock_drop, clock(1329, 2), clock(1330, 2)},  // 95 % of 1400 MHz
      {"clock_of_a_whole_trial", FlagKind::clock_drop,
       [](ProtocolRun& run) {
         for (double t = 0; t < 3.95; t += 0.1) sample_of(run, 2, t).sm_clock_mhz = std::uint64_t{1329};
       },
       [](ProtocolRun& run) {
         for (double t = 0; t < 3.95; t += 0.1) sample_of(run, 2, t).sm_clock_mhz = std::uint64_t{1330};
       }},
      {"clock_at_the_start", FlagKind::clock_drop, clock(210, 0.3), clock(210, 0.1)},
      {"temperature", FlagKind::temperature_drift, temperature(46), temperature(45)},
      // A jump of d moves the baseline by d/2, one percent of (300 - 60) W and less: 4.8 W are 2.4 of 240 W less 2.4.
      {"idle_jump", FlagKind::idle_drift, [](ProtocolRun& run) { set_idle(run, 60, std::vector<double>(5, 64.9)); },
       [](ProtocolRun& run) { set_idle(run, 60, std::vector<double>(5, 64.6)); }},
      // The same mean jump of 6 W, with standard deviations of 4 and 5 W: 2.776 / sqrt(5) of them are 5 and 6.2 W.
      {"idle_jump_above_the_scatter", FlagKind::idle_drift,
       [](ProtocolRun& run) {
         set_idle(run, 60, {66 - 4 * std::numbers::sqrt2, 66, 66, 66, 66 + 4 * std::numbers::sqrt2});
       },
       [](ProtocolRun& run) {
         set_idle(run, 60, {66 - 5 * std::numbers::sqrt2, 66, 66, 66, 66 + 5 * std::numbers::sqrt2});
       }},
      {"process_during_the_work", FlagKind::foreign_process, process(2, false), process(2, true)},
      {"process_in_the_idle_window_before", FlagKind::foreign_process, process(-2, false), process(-6, false)},
      {"process_in_the_idle_window_after", FlagKind::foreign_process, process(8, true), process(9.8, true)},
      {"process_beside_this_one_all_along", FlagKind::foreign_process, from_the_beginning({100, 101}, false),
       from_the_beginning({100}, false)},
      {"process_beside_processes_all_along", FlagKind::foreign_process, from_the_beginning({100}, true),
       from_the_beginning({}, true)},
      {"process_beside_processes", FlagKind::foreign_process, process(-2, true), process(-6, true)},
      // Ten percent, and two ticks of 20 ms in the 3.7 s from the first to the last sample: 11.08 %.
      {"counter_over", FlagKind::counter_mismatch, factor(1.112), factor(1.110)},
      {"counter_under", FlagKind::counter_mismatch, factor(0.888), factor(0.890)},
      {"averaged_power_is_behind_at_first", FlagKind::counter_mismatch, late_power, of_average(late_power)},
      // Median 10.05, median distance 0.05: 7.9 * 1.4826 * 0.05 = 0.5856.
      {"energy_outlier", FlagKind::outlier,
       [](ProtocolRun& run) {
         set_adjusted(run, {10, 10.1, 9.9, 10.05, 10.637});
       },
       [](ProtocolRun& run) {
         set_adjusted(run, {10, 10.1, 9.9, 10.05, 10.634});
       }},
      {"short", FlagKind::short_trial,
       [](ProtocolRun& run) { run.stages[0].trials[1].work.end = run.stages[0].trials[1].work.begin + 3799ms; },
       [](ProtocolRun& run) { run.stages[0].trials[1].work.end = run.stages[0].trials[1].work.begin + 3800ms; }},
      {"work", FlagKind::work_failed,
       [](ProtocolRun& run) {
         run.stages[0].trials[1].work.fault = Fault{FaultKind::work_failed, "the wrong sum"};
       },
       [](ProtocolRun&) {}},
      {"energy", FlagKind::energy_missing,
       [](ProtocolRun& run) {
         run.stages[0].trials[4].edges[1] = Fault{FaultKind::device_lost, "gone"};
       },
       [](ProtocolRun&) {}},
      {"trials", FlagKind::trials_missing, [](ProtocolRun& run) { run.stages[0].trials.pop_back(); }, [](ProtocolRun&) {}},
  };
}

class Flags : public testing::TestWithParam<FlagCase> {};

TEST_P(Flags, is_raised_where_it_is_due_and_alone_and_not_just_below) {
  ProtocolRun above = sampled_run();
  GetParam().above(above);
  EXPECT_THAT(kinds_of(stage_of(above).flags), ElementsAre(GetParam().kind));
  ProtocolRun below = sampled_run();
  GetParam().below(below);
  EXPECT_THAT(kinds_of(stage_of(below).flags), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Cases, Flags, testing::ValuesIn(flag_cases()),
                         [](const auto& flag_case) { return std::string(flag_case.param.name); });

TEST(FlagTexts, name_the_trial_and_the_figures) {
  ProtocolRun run = sampled_run();
  sample_of(run, 2, 1).sm_clock_mhz = std::uint64_t{1000};
  sample_of(run, 3, 1).processes = std::vector<ComputeProcess>{{4711, 1}};
  const StageMeasurement stage = stage_of(run);
  ASSERT_EQ(stage.flags.size(), 2U);
  EXPECT_EQ(stage.flags[0].text, "trial 2: the clock fell from 1400 to 1000 MHz");
  EXPECT_EQ(stage.flags[1].text, "trial 3: process 4711 began to compute on the device");
  EXPECT_THAT(kinds_of(stage.trials[1].flags), ElementsAre(FlagKind::clock_drop));
  EXPECT_THAT(kinds_of(stage.trials[2].flags), ElementsAre(FlagKind::foreign_process));
}

TEST(FlagTexts, drop_nothing) {
  ProtocolRun run = sampled_run();
  set_adjusted(run, {10, 10.1, 9.9, 10.05, 13});
  EXPECT_NEAR(stage_of(run).adjusted_j.value(), (10 + 10.1 + 9.9 + 10.05 + 13) / 5, 1e-9);
}

/// A first sample without a list of processes hides nobody who comes later.
TEST(ForeignProcess, is_one_that_the_first_list_has_not) {
  ProtocolRun run = sampled_run();
  run.samples.front().processes = Fault{FaultKind::source_error, "not now"};
  sample_of(run, 3, 1).processes = std::vector<ComputeProcess>{{4711, 1}};
  EXPECT_THAT(kinds_of(stage_of(run).flags), ElementsAre(FlagKind::foreign_process));
}

TEST(FlagNames, are_their_own) {
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(FlagKind::trials_missing); ++kind) {
    names.emplace_back(flag_name(static_cast<FlagKind>(kind)));
  }
  EXPECT_EQ(names.front(), "power_capped");
  EXPECT_EQ(names.back(), "trials_missing");
  EXPECT_EQ((std::set<std::string>{names.begin(), names.end()}.size()), names.size());
}

// ---- Comparison ----

/// Trials of one repetition each, numbered from 1, with these energies, and times of a tenth of them.
StageMeasurement stage_with(const std::string& name, const std::vector<double>& joules) {
  StageMeasurement stage = stage_of(run_of(std::vector<WindowFacts>(joules.size())));
  stage.name = name;
  for (std::size_t i = 0; i < joules.size(); ++i) {
    stage.trials[i].repetitions = 1;
    stage.trials[i].adjusted_j = joules[i];
    stage.trials[i].seconds = joules[i] / 10;
  }
  return stage;
}

// Differences 11, 11 and 14: mean 12, standard deviation sqrt(3), of the mean 1. Ratio 24 / 12 = 2; what remains is 1, -1
// and 0, so 1 / sqrt(3) of the mean, over 12.
TEST(Compare, figures_are_those_worked_out_by_hand) {
  const Comparison comparison = compare(stage_with("a", {10, 12, 14}), stage_with("b", {21, 23, 28}));
  EXPECT_EQ(comparison.first, "a");
  EXPECT_EQ(comparison.second, "b");
  EXPECT_EQ(comparison.pairs, 3U);
  const Comparison::Figures& joules = comparison.adjusted_j.value();
  EXPECT_DOUBLE_EQ(joules.difference, 12);
  EXPECT_NEAR(joules.difference_95, t_of_2, half_of_last_digit);
  EXPECT_DOUBLE_EQ(joules.ratio, 2);
  EXPECT_NEAR(joules.ratio_95, t_of_2 / std::sqrt(3) / 12, half_of_last_digit / 12);
  const Comparison::Figures& seconds = comparison.seconds.value();
  EXPECT_DOUBLE_EQ(seconds.difference, 1.2);
  EXPECT_NEAR(seconds.difference_95, t_of_2 / 10, half_of_last_digit);
  EXPECT_DOUBLE_EQ(seconds.ratio, 2);
  EXPECT_NEAR(seconds.ratio_95, t_of_2 / std::sqrt(3) / 12, half_of_last_digit / 12);
}

TEST(Compare, pairs_are_rounds_that_both_finished) {
  const StageMeasurement first = stage_with("a", {10, 12, 14, 99, 50});
  StageMeasurement second = stage_with("b", {21, 23, 28, 1, 70});
  second.trials[3].work_fault = Fault{FaultKind::work_failed, "the wrong sum"};
  second.trials[4].adjusted_j = Fault{FaultKind::device_lost, "gone"};
  std::swap(second.trials[0], second.trials[2]);
  const Comparison comparison = compare(first, second);
  EXPECT_EQ(comparison.pairs, 4U);
  EXPECT_DOUBLE_EQ(comparison.adjusted_j.value().difference, 12);
  EXPECT_DOUBLE_EQ(comparison.seconds.value().difference, (1.1 + 1.1 + 1.4 + 2) / 4);
}

TEST(Compare, says_why_there_is_nothing) {
  StageMeasurement second = stage_with("b", {21, 23, 28});
  for (TrialMeasurement& trial : second.trials) trial.adjusted_j = Fault{FaultKind::device_lost, "gone"};
  const Comparison no_energy = compare(stage_with("a", {10, 12, 14}), second);
  EXPECT_EQ(no_energy.adjusted_j.fault().kind, FaultKind::device_lost);
  EXPECT_DOUBLE_EQ(no_energy.seconds.value().ratio, 2);
  const Comparison one = compare(stage_with("a", {10}), stage_with("b", {20, 30}));
  EXPECT_EQ(one.pairs, 1U);
  EXPECT_EQ(one.adjusted_j.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(one.seconds.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(compare(stage_with("a", {}), stage_with("b", {})).adjusted_j.fault().kind, FaultKind::not_enough);
  EXPECT_EQ(compare(stage_with("a", {-1, 1}), stage_with("b", {1, 2})).adjusted_j.fault().kind, FaultKind::not_enough);
}

// The rounds are better or worse for both (3 %), and each trial has a scatter of its own (1 and 2 %).
TEST(Compare, intervals_cover_the_truth_in_95_of_100_experiments) {
  constexpr int experiments = 2000;
  constexpr double truth = 1.3;
  SplitMix64 random(20'260'901);
  const auto gauss = [&] {
    return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
  };
  int ratios = 0;
  int differences = 0;
  for (int i = 0; i < experiments; ++i) {
    std::vector<double> a;
    std::vector<double> b;
    for (int round = 0; round < 5; ++round) {
      const double common = 1 + 0.03 * gauss();
      a.push_back(20 * common * (1 + 0.01 * gauss()));
      b.push_back(20 * truth * common * (1 + 0.02 * gauss()));
    }
    const Comparison::Figures figures = compare(stage_with("a", a), stage_with("b", b)).adjusted_j.value();
    if (std::abs(figures.ratio - truth) <= figures.ratio_95) ++ratios;
    if (std::abs(figures.difference - 20 * (truth - 1)) <= figures.difference_95) ++differences;
  }
  // Three standard deviations of a share of 0.95 among 2000.
  constexpr double three = 3 * 0.00487;
  EXPECT_NEAR(ratios / double{experiments}, 0.95, three);
  EXPECT_NEAR(differences / double{experiments}, 0.95, three);
}

/// Equal work on a counter of 1 J steps without noise: all trials read alike, and so do both stages or differ by a step.
TEST(Compare, of_a_coarse_counter_knows_what_its_steps_hide) {
  int covered = 0;
  constexpr int experiments = 100;
  for (std::uint64_t seed = 1; seed <= experiments; ++seed) {
    SimulatedDeviceFacts facts;
    facts.noise = 0;
    facts.tick_jitter = 0;
    facts.step_uj = 1'000'000;
    SimulatedDevice device(facts, seed);
    MeasurePlan plan;
    plan.trial_time = plan.idle_time = 1s;
    std::vector<std::unique_ptr<Stage>> stages;
    for (const char* name : {"a", "b"}) stages.push_back(make_stage(name, [](std::uint64_t) {}, {}));
    const Measurement result = evaluate(run_protocol(plan, stages, device));
    const Comparison::Figures figures = compare(result.stages[0], result.stages[1]).adjusted_j.value();
    if (std::abs(figures.ratio - 1) <= figures.ratio_95) ++covered;
  }
  EXPECT_GE(covered, 93);
}

}  // namespace
}  // namespace joulegrid
