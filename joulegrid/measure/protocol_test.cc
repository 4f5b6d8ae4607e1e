#include "joulegrid/measure/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "joulegrid/measure/measurement.h"
#include "joulegrid/measure/simulated_device.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::unique_ptr<Stage>> stages_named(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<Stage>> stages;
  for (const std::string& name : names) stages.push_back(make_stage(name, [](std::uint64_t) {}, {}));
  return stages;
}

/// The address sanitizer makes everything slower; fewer experiments then.
constexpr std::uint64_t experiments =
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
    100;
#else
    1000;
#endif

struct Setting {
  const char* name;
  SimulatedDeviceFacts facts;
};

std::vector<Setting> settings(double tick_s) {
  SimulatedDeviceFacts noisy;
  noisy.tick_s = tick_s;
  SimulatedDeviceFacts quiet = noisy;
  quiet.noise = 0;
  SimulatedDeviceFacts drifting = noisy;
  drifting.drift_w = 20;
  SimulatedDeviceFacts slow = noisy;
  slow.ramp_s = 0.1;
  slow.load_w = 90;
  return {{"noise", noisy}, {"no noise", quiet}, {"drift", drifting}, {"slow ramp, small load", slow}};
}

/// What reading the counter at the beginning and the end of the same windows gives, whenever it last changed.
double naive_adjusted_j(SimulatedDevice& device, std::uint64_t repetitions) {
  constexpr int trials = 5;
  const auto stages = stages_named({"work"});
  const auto watts = [&](auto&& window) {
    const Reading first = device.read().value();
    window();
    const Reading last = device.read().value();
    const double joules = static_cast<double>(last.energy.count() - first.energy.count()) / 1e6;
    return std::pair(joules, std::chrono::duration<double>(last.at - first.at).count());
  };
  double adjusted = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto before = watts([&] { device.sleep_for(5s); });
    const auto work = watts([&] { device.run(*stages[0], repetitions); });
    const auto after = watts([&] { device.sleep_for(5s); });
    const double idle = (before.first / before.second + after.first / after.second) / 2;
    adjusted += (work.first - idle * work.second) / static_cast<double>(repetitions) / trials;
  }
  return adjusted;
}

TEST(Settling, power_that_falls_slowly_is_told_of_and_settling_longer_helps) {
  int flagged = 0;
  constexpr int experiments_of_usual_ramps = 60;
  const auto settling = [](const SimulatedDeviceFacts& facts, const MeasurePlan& plan, std::uint64_t seed,
                           double* error = nullptr) {
    SimulatedDevice device(facts, seed);
    const Measurement result = evaluate(run_protocol(plan, stages_named({"work"}), device));
    const StageMeasurement& stage = result.stages.at(0);
    if (error != nullptr) *error = stage.adjusted_j.value() / device.truth() - 1;
    return std::any_of(stage.flags.begin(), stage.flags.end(),
                       [](const Flag& flag) { return flag.kind == FlagKind::still_settling; });
  };
  for (const double tick : {0.01, 0.1}) {
    SimulatedDeviceFacts slow;
    slow.tick_s = tick;
    slow.ramp_s = 0.3;
    int told = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      double error = 0;
      told += settling(slow, {}, seed, &error) ? 1 : 0;
      EXPECT_LT(error, -0.01);
      MeasurePlan longer;
      longer.settle_time = 3s;
      EXPECT_FALSE(settling(slow, longer, seed, &error)) << "tick " << tick << ", seed " << seed;
      EXPECT_NEAR(error, 0, 0.01);
    }
    EXPECT_GE(told, tick > 0.05 ? 7 : 10) << "tick " << tick;  // long ticks blur it
    SimulatedDeviceFacts usual;
    usual.tick_s = tick;
    for (std::uint64_t seed = 1; seed <= experiments_of_usual_ramps / 2; ++seed) flagged += settling(usual, {}, seed) ? 1 : 0;
  }
  EXPECT_LE(flagged, 2);
}

class Coverage : public testing::TestWithParam<double> {};

TEST_P(Coverage, stated_intervals_cover_the_truth_and_the_bias_is_small) {
  for (const Setting& setting : settings(GetParam())) {
    int covered = 0;
    double bias = 0;
    double naive_bias = 0;
    for (std::uint64_t seed = 1; seed <= experiments; ++seed) {
      SimulatedDevice device(setting.facts, seed);
      const Measurement result = evaluate(run_protocol({}, stages_named({"work"}), device));
      const StageMeasurement& stage = result.stages.at(0);
      ASSERT_TRUE(stage.adjusted_j) << stage.adjusted_j.fault().reason;
      const double off = stage.adjusted_j.value() - device.truth();
      if (std::abs(off) <= stage.adjusted_95.value().expanded) ++covered;
      bias += off / device.truth() / experiments;
      SimulatedDevice same(setting.facts, seed);
      naive_bias += (naive_adjusted_j(same, stage.trials[0].repetitions) / same.truth() - 1) / experiments;
    }
    const double coverage = static_cast<double>(covered) / experiments;
    std::cout << "tick " << setting.facts.tick_s * 1000 << " ms, " << setting.name << ", seeds 1 to " << experiments
              << ": coverage " << coverage * 100 << " %, bias " << bias * 100 << " %, of naive windows " << naive_bias * 100
              << " %\n";
    if (experiments >= 1000) {
      EXPECT_GE(coverage, 0.93) << setting.name;
      EXPECT_LE(coverage, 0.97) << setting.name;
    } else {
      EXPECT_GE(coverage, 0.87) << setting.name;  // three standard deviations of a hundred
    }
    EXPECT_LT(std::abs(bias), 0.001) << setting.name;
    // A reading is as old as half a tick on average, and the ramp's end is cut off.
    EXPECT_LT(naive_bias, -0.8 * (setting.facts.tick_s / 2 + setting.facts.ramp_s) / 5) << setting.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ticks, Coverage, testing::Values(0.01, 0.02, 0.1),
                         [](const auto& tick) { return std::to_string(static_cast<int>(1000 * tick.param)) + "_ms"; });

/// A plan of short windows: a trial takes about two seconds of virtual time.
MeasurePlan short_plan() {
  MeasurePlan plan;
  plan.trial_time = 500ms;
  plan.idle_time = 400ms;
  plan.settle_time = 200ms;
  plan.warm_up_time = 100ms;
  return plan;
}

/// The names of the stages in the order of their trials.
std::vector<std::string> order_of(const ProtocolRun& run) {
  std::map<std::uint64_t, std::string> by_position;
  for (const StageTrials& stage : run.stages) {
    for (const Trial& trial : stage.trials) by_position[trial.position] = stage.name;
  }
  std::vector<std::string> order;
  for (const auto& [position, name] : by_position) order.push_back(name);
  return order;
}

std::size_t finished_trials(const ProtocolRun& run) {
  std::size_t finished = 0;
  for (const StageTrials& stage : run.stages) finished += stage.trials.size();
  return finished;
}

/// Without outliers: among five simulated trials they are a matter of luck.
std::set<FlagKind> kinds_of(const std::vector<Flag>& flags) {
  std::set<FlagKind> kinds;
  for (const Flag& flag : flags) kinds.insert(flag.kind);
  kinds.erase(FlagKind::outlier);
  return kinds;
}

/// A stage that fails the n-th time somebody waits for it, n from 1.
class FailingStage final : public Stage {
 public:
  FailingStage(std::string name, std::uint64_t fails_at) : name_(std::move(name)), fails_at_(fails_at) {}

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t /*repetitions*/) override {}
  std::optional<Fault> synchronise() override {
    if (++waited_ == fails_at_) return Fault{FaultKind::work_failed, "the wrong sum"};
    return std::nullopt;
  }

 private:
  std::string name_;
  std::uint64_t fails_at_;
  std::uint64_t waited_ = 0;
};

/// No counter, exact times, and a list of what was asked of it.
class ExactInstruments final : public Instruments {
 public:
  explicit ExactInstruments(std::chrono::nanoseconds repetition) : repetition_(repetition) {}

  const CounterDescription& counter() const override { return description_; }
  Measured<Reading> read() override { return Fault{FaultKind::not_asked, "no counter"}; }
  void sleep_for(std::chrono::nanoseconds duration) override {
    slept += duration;
    now_ += duration;
  }
  Aggregate run(Stage& /*stage*/, std::uint64_t repetitions) override {
    batches.push_back(repetitions);
    const TimeSource::Instant begin = now_;
    now_ += repetition_ * static_cast<std::int64_t>(repetitions);
    return {begin, now_, {}, {}};
  }
  void start_sampling(std::chrono::nanoseconds /*interval*/) override {}
  void stop_sampling() override {}
  std::vector<TelemetrySample> take_samples() override { return {}; }

  std::vector<std::uint64_t> batches;
  std::chrono::nanoseconds slept{};

 private:
  CounterDescription description_;
  std::chrono::nanoseconds repetition_;
  TimeSource::Instant now_;
};

TEST(Protocol, every_round_has_every_stage_once) {
  MeasurePlan plan = short_plan();
  plan.trials = 6;
  SimulatedDevice device({}, 1);
  const ProtocolRun run = run_protocol(plan, stages_named({"a", "b", "c", "d"}), device);
  EXPECT_FALSE(run.ended_early);
  const std::vector<std::string> order = order_of(run);
  ASSERT_EQ(order.size(), 24U);
  for (std::ptrdiff_t round = 0; round < 6; ++round) {
    EXPECT_EQ((std::set<std::string>{order.begin() + 4 * round, order.begin() + 4 * round + 4}),
              (std::set<std::string>{"a", "b", "c", "d"}));
  }
  for (const StageTrials& stage : run.stages) {
    for (std::size_t i = 0; i < stage.trials.size(); ++i) {
      EXPECT_EQ(stage.trials[i].number, i + 1);
      EXPECT_EQ((stage.trials[i].position - 1) / 4, i);
      EXPECT_EQ(stage.trials[i].repetitions, stage.repetitions);
    }
  }
}

TEST(Protocol, the_order_depends_on_the_seed_and_on_nothing_else) {
  const auto order_for = [](std::uint64_t seed, std::uint64_t device_seed, double load_w) {
    MeasurePlan plan = short_plan();
    plan.trials = 4;
    plan.seed = seed;
    SimulatedDeviceFacts facts;
    facts.load_w = load_w;
    SimulatedDevice device(facts, device_seed);
    return order_of(run_protocol(plan, stages_named({"a", "b", "c", "d", "e"}), device));
  };
  const std::vector<std::string> order = order_for(7, 1, 300);
  EXPECT_EQ(order_for(7, 2, 100), order);
  EXPECT_NE(order_for(8, 1, 300), order);
  // Rounds are shuffled each for itself: that all four agree has a chance of 1 in 120^3.
  const std::vector<std::string> first(order.begin(), order.begin() + 5);
  EXPECT_FALSE(std::equal(first.begin(), first.end(), order.begin() + 5) &&
               std::equal(first.begin(), first.end(), order.begin() + 10) &&
               std::equal(first.begin(), first.end(), order.begin() + 15));
}

TEST(Protocol, trials_share_no_windows_and_the_work_lies_within_its_own) {
  const MeasurePlan plan = short_plan();
  SimulatedDevice device({}, 3);
  const ProtocolRun run = run_protocol(plan, stages_named({"a", "b"}), device);
  std::map<std::uint64_t, const Trial*> by_position;
  for (const StageTrials& stage : run.stages) {
    for (const Trial& trial : stage.trials) by_position[trial.position] = &trial;
  }
  ASSERT_EQ(by_position.size(), 10U);
  TimeSource::Instant last_end;
  for (const auto& [position, trial] : by_position) {
    std::array<TimeSource::Instant, 4> edges;
    for (std::size_t i = 0; i < 4; ++i) edges[i] = trial->edges[i].value().at;
    EXPECT_GE(edges[0] - last_end, plan.settle_time) << position;
    EXPECT_GE(edges[1] - edges[0], plan.idle_time) << position;
    EXPECT_LT(edges[1], trial->work.begin) << position;
    EXPECT_GE(trial->work.duration(), plan.trial_time) << position;
    EXPECT_GE(edges[2] - trial->work.end, plan.settle_time) << position;
    EXPECT_GE(edges[3] - edges[2], plan.idle_time) << position;
    last_end = edges[3];
  }
}

TEST(Protocol, edges_are_readings_just_after_a_change) {
  SimulatedDeviceFacts facts;
  facts.noise = 0;
  facts.tick_jitter = 0;
  SimulatedDevice device(facts, 5);
  const ProtocolRun run = run_protocol(short_plan(), stages_named({"a"}), device);
  // All changes are a whole number of ticks apart, so all edges are, to within a look (312 µs, a sleep and a read).
  const TimeSource::Instant origin = run.stages[0].trials[0].edges[0].value().at;
  for (const Trial& trial : run.stages[0].trials) {
    for (const Measured<Reading>& edge : trial.edges) {
      const double ticks = std::chrono::duration<double>(edge.value().at - origin).count() / facts.tick_s;
      EXPECT_NEAR(ticks, std::round(ticks), 0.5e-3 / facts.tick_s);
    }
  }
}

TEST(Calibration, gives_the_repetitions_worked_out_by_hand) {
  MeasurePlan plan = short_plan();
  plan.trials = 2;
  {
    // One takes 7 ms; 93 ms are left: 14 (rounded up, at most 16). Then 105 ms are done and a trial of 500 ms needs
    // 1.02 * 500 / 7 = 72.9.
    ExactInstruments instruments(7ms);
    const ProtocolRun run = run_protocol(plan, stages_named({"a"}), instruments);
    EXPECT_THAT(instruments.batches, ElementsAre(1, 14, 73, 73));
    EXPECT_EQ(run.stages[0].repetitions, 73U);
  }
  {
    // 1, 16, 256, 4096: sixteen times more each; 95.6 ms left allow 65,536; 30 ms are left, but 50 ms are needed to tell.
    ExactInstruments instruments(1us);
    run_protocol(plan, stages_named({"a"}), instruments);
    EXPECT_THAT(instruments.batches, ElementsAre(1, 16, 256, 4096, 65'536, 50'000, 510'000, 510'000));
  }
  {
    // Longer than a trial: one is enough.
    ExactInstruments instruments(3s);
    run_protocol(plan, stages_named({"a"}), instruments);
    EXPECT_THAT(instruments.batches, ElementsAre(1, 1, 1));
  }
  {
    // As in the first case, and then eight at a time (50 ms) until 40 are done.
    plan.warm_up_repetitions = 40;
    ExactInstruments instruments(7ms);
    run_protocol(plan, stages_named({"a"}), instruments);
    EXPECT_THAT(instruments.batches, ElementsAre(1, 14, 8, 8, 8, 8, 73, 73));
  }
}

TEST(Calibration, a_stage_that_never_takes_time_is_a_fault_and_no_endless_loop) {
  ExactInstruments instruments(0ns);
  const ProtocolRun run = run_protocol(short_plan(), stages_named({"nothing"}), instruments);
  ASSERT_TRUE(run.stages[0].fault);
  EXPECT_EQ(run.stages[0].fault->kind, FaultKind::work_failed);
  EXPECT_TRUE(run.stages[0].trials.empty());
  EXPECT_FALSE(run.ended_early);
}

TEST(WithoutCounter, there_are_times_but_no_windows_and_no_energies) {
  MeasurePlan plan = short_plan();
  ExactInstruments instruments(7ms);
  const ProtocolRun run = run_protocol(plan, stages_named({"a", "b"}), instruments);
  EXPECT_EQ(instruments.slept, 0ns);
  EXPECT_EQ(run.tick.fault().kind, FaultKind::not_asked);
  const Measurement result = evaluate(run);
  for (const StageMeasurement& stage : result.stages) {
    ASSERT_EQ(stage.trials.size(), 5U);
    EXPECT_EQ(stage.repetitions, 5U * 73);
    EXPECT_DOUBLE_EQ(stage.seconds.value(), 0.007);
    EXPECT_NEAR(stage.seconds_95.value().expanded, 0, 1e-15);
    for (const Measured<double>* figure : {&stage.raw_j, &stage.idle_w, &stage.adjusted_j, &stage.stdev_j}) {
      ASSERT_FALSE(*figure);
      EXPECT_EQ(figure->fault().kind, FaultKind::not_asked);
    }
    EXPECT_EQ(stage.adjusted_95.fault().kind, FaultKind::not_asked);
    EXPECT_EQ(stage.adjusted_range_j.fault().kind, FaultKind::not_asked);
    EXPECT_TRUE(stage.flags.empty());
    for (const TrialMeasurement& trial : stage.trials) {
      EXPECT_EQ(trial.raw_j.fault().kind, FaultKind::not_asked);
      EXPECT_EQ(trial.idle_before.fault().kind, FaultKind::not_asked);
      EXPECT_TRUE(trial.flags.empty());
      EXPECT_DOUBLE_EQ(trial.seconds, 73 * 0.007);
    }
  }
}

/// Five trials of one stage; `change` stands between the counter and the protocol once `from` trials are finished.
StageMeasurement with_faulty_counter(std::size_t from, std::function<Measured<Reading>(const Reading&)> change) {
  SimulatedDevice device({}, 11);
  ProtocolOptions options;
  options.after_trial = [&](const ProtocolRun& run) {
    if (finished_trials(run) == from) device.change_reading = change;
  };
  Measurement result = evaluate(run_protocol(short_plan(), stages_named({"work"}), device, options));
  EXPECT_FALSE(result.ended_early);
  EXPECT_EQ(result.stages.at(0).trials.size(), 5U);
  return std::move(result.stages.at(0));
}

/// The first trials have the device's true energy, the others this fault and no number, and the stage says so.
void expect_energies_until(const StageMeasurement& stage, std::size_t finished, FaultKind fault) {
  const double truth = (300 - 60) * 0.003;
  for (std::size_t i = 0; i < stage.trials.size(); ++i) {
    const TrialMeasurement& trial = stage.trials[i];
    EXPECT_GT(trial.seconds, 0.5);
    if (i < finished) {
      EXPECT_NEAR(trial.adjusted_j.value(), truth, 0.05 * truth);
      EXPECT_TRUE(kinds_of(trial.flags).empty());
      continue;
    }
    for (const Measured<double>* figure : {&trial.raw_j, &trial.idle_w, &trial.adjusted_j}) {
      ASSERT_FALSE(*figure);
      EXPECT_EQ(figure->fault().kind, fault) << fault_name(figure->fault().kind);
      EXPECT_FALSE(figure->fault().reason.empty());
    }
    EXPECT_THAT(kinds_of(trial.flags), ElementsAre(FlagKind::energy_missing));
  }
  EXPECT_THAT(kinds_of(stage.flags), ElementsAre(FlagKind::energy_missing));
  EXPECT_THAT(stage.flags[0].text, HasSubstr(std::to_string(5 - finished) + " of 5 trials have no energy"));
  if (finished > 0) {
    EXPECT_NEAR(stage.adjusted_j.value(), truth, 0.05 * truth);
    EXPECT_EQ(stage.repetitions, finished * stage.trials[0].repetitions);
  } else {
    EXPECT_EQ(stage.adjusted_j.fault().kind, fault);
    EXPECT_EQ(stage.raw_j.fault().kind, fault);
    EXPECT_EQ(stage.idle_w.fault().kind, fault);
    EXPECT_EQ(stage.adjusted_95.fault().kind, fault);
    EXPECT_EQ(stage.repetitions, 5 * stage.trials[0].repetitions);  // of the times
  }
}

TEST(FaultyCounter, a_device_lost_for_good_leaves_the_trials_before_as_they_are) {
  expect_energies_until(with_faulty_counter(2,
                                            [](const Reading&) -> Measured<Reading> {
                                              return Fault{FaultKind::device_lost, "it fell off the bus"};
                                            }),
                        2, FaultKind::device_lost);
}

TEST(FaultyCounter, one_that_stands_still_is_frozen_not_zero) {
  std::optional<Reading> last;
  expect_energies_until(with_faulty_counter(3,
                                            [&](const Reading& reading) -> Measured<Reading> {
                                              if (!last) last = reading;
                                              return Reading{last->energy, reading.at, reading.took};
                                            }),
                        3, FaultKind::frozen);
}

TEST(FaultyCounter, one_that_went_backwards_gives_no_number_again) {
  expect_energies_until(with_faulty_counter(2,
                                            [](const Reading&) -> Measured<Reading> {
                                              return Fault{FaultKind::went_backwards, "from 5 to 3 µJ"};
                                            }),
                        2, FaultKind::went_backwards);
}

/// Even where the counter itself does not notice, as in a recording that somebody has changed.
TEST(FaultyCounter, numbers_that_fall_give_no_energy) {
  // Down by a megajoule at every reading, so every window sees it.
  std::uint64_t fallen = 0;
  expect_energies_until(with_faulty_counter(2,
                                            [&](const Reading& reading) -> Measured<Reading> {
                                              fallen += 1'000'000;
                                              const Wide start = 1'000'000'000'000;
                                              return Reading{Microjoules(start - Wide{fallen}), reading.at, reading.took};
                                            }),
                        2, FaultKind::went_backwards);
}

TEST(FaultyCounter, a_fault_before_the_first_trial_leaves_only_times) {
  for (const FaultKind kind : {FaultKind::no_permission, FaultKind::not_supported, FaultKind::device_lost}) {
    SimulatedDevice device({}, 2);
    device.change_reading = [&](const Reading&) -> Measured<Reading> { return Fault{kind, "so it is"}; };
    const Measurement result = evaluate(run_protocol(short_plan(), stages_named({"work"}), device));
    EXPECT_EQ(result.tick.fault().kind, kind);
    expect_energies_until(result.stages[0], 0, kind);
    EXPECT_NEAR(result.stages[0].seconds.value(), 0.003, 1e-6);
  }
}

TEST(FaultyCounter, frozen_or_backwards_from_the_start_leaves_only_times) {
  SimulatedDevice frozen({}, 2);
  frozen.change_reading = [](const Reading& reading) -> Measured<Reading> {
    return Reading{Microjoules(7), reading.at, reading.took};
  };
  expect_energies_until(evaluate(run_protocol(short_plan(), stages_named({"work"}), frozen)).stages[0], 0, FaultKind::frozen);

  SimulatedDevice falling({}, 2);
  Wide energy = 1'000'000'000;
  falling.change_reading = [&](const Reading& reading) -> Measured<Reading> {
    return Reading{Microjoules(--energy), reading.at, reading.took};
  };
  expect_energies_until(evaluate(run_protocol(short_plan(), stages_named({"work"}), falling)).stages[0], 0,
                        FaultKind::went_backwards);
}

TEST(FaultyCounter, a_fault_that_passes_costs_one_trial) {
  SimulatedDevice device({}, 11);
  bool once = false;
  device.change_reading = [&](const Reading& reading) -> Measured<Reading> {
    if (std::exchange(once, false)) return Fault{FaultKind::not_supported, "not now"};
    return reading;
  };
  ProtocolOptions options;
  options.progress = [&](const ProtocolProgress& progress) {
    if (progress.position == 2 && progress.phase == ProtocolProgress::Phase::work) once = true;  // the third edge is next
  };
  const ProtocolRun run = run_protocol(short_plan(), stages_named({"work"}), device, options);
  EXPECT_FALSE(run.ended_early);
  const StageMeasurement stage = evaluate(run).stages.at(0);
  ASSERT_EQ(stage.trials.size(), 5U);
  EXPECT_EQ(stage.trials[1].adjusted_j.fault(), (Fault{FaultKind::not_supported, "not now"}));
  EXPECT_TRUE(stage.trials[1].idle_before);  // what was read stays readable
  for (const std::size_t i : {0U, 2U, 3U, 4U}) EXPECT_NEAR(stage.trials[i].adjusted_j.value(), 0.72, 0.04);
  EXPECT_EQ(stage.repetitions, 4 * stage.trials[0].repetitions);
  EXPECT_THAT(kinds_of(stage.flags), ElementsAre(FlagKind::energy_missing));
}

TEST(Interrupted, finished_trials_are_kept_wherever_it_happens) {
  for (const ProtocolProgress::Phase phase : {ProtocolProgress::Phase::idle, ProtocolProgress::Phase::work}) {
    SimulatedDevice device({}, 4);
    Stop stop;
    ProtocolOptions options;
    options.stop = &stop;
    options.progress = [&](const ProtocolProgress& progress) {
      if (progress.position == 4 && progress.phase == phase) stop.request();
    };
    const ProtocolRun run = run_protocol(short_plan(), stages_named({"a", "b"}), device, options);
    EXPECT_EQ(run.ended_early->kind, FaultKind::interrupted);
    EXPECT_EQ(finished_trials(run), 3U);
    const Measurement result = evaluate(run);
    for (const StageMeasurement& stage : result.stages) {
      EXPECT_NEAR(stage.adjusted_j.value(), 0.72, 0.04);
      EXPECT_TRUE(kinds_of(stage.flags).contains(FlagKind::trials_missing));
    }
  }
}

TEST(Interrupted, within_the_work_itself_ends_the_run_after_it) {
  SimulatedDevice device({}, 4);
  Stop stop;
  ProtocolOptions options;
  options.stop = &stop;
  bool now = false;
  options.after_trial = [&](const ProtocolRun& run) { now = finished_trials(run) == 2; };
  std::vector<std::unique_ptr<Stage>> stages;
  stages.push_back(make_stage("a",
                              [&](std::uint64_t) {
                                if (now) stop.request();
                              },
                              {}));
  const ProtocolRun run = run_protocol(short_plan(), stages, device, options);
  EXPECT_EQ(run.ended_early->kind, FaultKind::interrupted);
  EXPECT_EQ(finished_trials(run), 2U);
}

TEST(Interrupted, before_the_first_trial_gives_no_figures_and_says_why) {
  for (const ProtocolProgress::Phase phase : {ProtocolProgress::Phase::tick, ProtocolProgress::Phase::warm_up}) {
    SimulatedDevice device({}, 4);
    Stop stop;
    ProtocolOptions options;
    options.stop = &stop;
    options.progress = [&](const ProtocolProgress& progress) {
      if (progress.phase == phase) stop.request();
    };
    const Measurement result = evaluate(run_protocol(short_plan(), stages_named({"a"}), device, options));
    EXPECT_EQ(result.ended_early->kind, FaultKind::interrupted);
    EXPECT_EQ(result.stages.at(0).seconds.fault().kind, FaultKind::interrupted);
    EXPECT_EQ(result.stages.at(0).adjusted_j.fault().kind, FaultKind::interrupted);
    EXPECT_THAT(kinds_of(result.stages.at(0).flags), ElementsAre(FlagKind::trials_missing));
  }
}

TEST(FailingWork, in_one_trial_is_not_averaged_in) {
  // Calibration of 3 ms repetitions is 1, 16, 17 (51 ms); the sixth time is trial 3.
  std::vector<std::unique_ptr<Stage>> stages;
  stages.push_back(std::make_unique<FailingStage>("work", 6));
  SimulatedDevice device({}, 6);
  const ProtocolRun run = run_protocol(short_plan(), stages, device);
  EXPECT_FALSE(run.ended_early);
  EXPECT_EQ(run.stages[0].repetitions, 170U);  // 1.02 * 500 / 3
  const StageMeasurement stage = evaluate(run).stages[0];
  ASSERT_EQ(stage.trials.size(), 5U);
  EXPECT_EQ(stage.trials[2].work_fault, (Fault{FaultKind::work_failed, "the wrong sum"}));
  EXPECT_EQ(stage.trials[2].adjusted_j.fault().kind, FaultKind::work_failed);
  EXPECT_THAT(kinds_of(stage.trials[2].flags), ElementsAre(FlagKind::work_failed));
  EXPECT_EQ(stage.repetitions, 4 * 170U);
  double adjusted = 0;
  for (const std::size_t i : {0U, 1U, 3U, 4U}) adjusted += stage.trials[i].raw_j.value() / 4;
  EXPECT_NEAR(stage.raw_j.value(), adjusted, 1e-9);
  EXPECT_THAT(kinds_of(stage.flags), ElementsAre(FlagKind::work_failed));
  EXPECT_THAT(stage.flags[0].text, HasSubstr("1 of 5"));
}

TEST(FailingWork, in_the_warm_up_leaves_the_other_stages_alone) {
  std::vector<std::unique_ptr<Stage>> stages;
  stages.push_back(std::make_unique<FailingStage>("broken", 2));
  stages.push_back(std::make_unique<FailingStage>("fine", 0));
  SimulatedDevice device({}, 6);
  const ProtocolRun run = run_protocol(short_plan(), stages, device);
  EXPECT_FALSE(run.ended_early);
  EXPECT_TRUE(run.stages[0].trials.empty());
  EXPECT_EQ(run.stages[1].trials.size(), 5U);
  EXPECT_EQ(run.stages[1].trials.back().position, 5U);
  const Measurement result = evaluate(run);
  EXPECT_EQ(result.stages[0].fault, (Fault{FaultKind::work_failed, "the wrong sum"}));
  EXPECT_EQ(result.stages[0].adjusted_j.fault().kind, FaultKind::work_failed);
  EXPECT_EQ(result.stages[0].seconds.fault().kind, FaultKind::work_failed);
  EXPECT_THAT(kinds_of(result.stages[0].flags), ElementsAre(FlagKind::work_failed));
  EXPECT_NEAR(result.stages[1].adjusted_j.value(), 0.72, 0.04);
  EXPECT_TRUE(kinds_of(result.stages[1].flags).empty());
}

std::string refusal(const MeasurePlan& plan, const std::vector<std::string>& names, double tick_s = 0.02) {
  SimulatedDeviceFacts facts;
  facts.tick_s = tick_s;
  SimulatedDevice device(facts, 1);
  try {
    run_protocol(plan, stages_named(names), device);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(BadPlan, is_refused_with_the_option_at_fault) {
  EXPECT_EQ(refusal(short_plan(), {"a"}), "accepted");
  MeasurePlan plan = short_plan();
  plan.trials = 0;
  EXPECT_THAT(refusal(plan, {"a"}), HasSubstr("--trials"));
  EXPECT_THAT(refusal(short_plan(), {}), HasSubstr("nothing to measure"));
  EXPECT_THAT(refusal(short_plan(), {"a", "b", "a"}), HasSubstr("'a'"));
  EXPECT_THAT(refusal(short_plan(), {"a", ""}), HasSubstr("name"));
  plan = short_plan();
  plan.trial_time = 0s;
  EXPECT_THAT(refusal(plan, {"a"}), HasSubstr("--trial-seconds"));
  plan = short_plan();
  plan.idle_time = -1s;
  EXPECT_THAT(refusal(plan, {"a"}), HasSubstr("--idle-seconds"));
}

TEST(BadPlan, a_window_has_five_ticks_at_least) {
  MeasurePlan plan = short_plan();
  plan.trial_time = 460ms;  // 4.6 ticks of 100 ms; five that are measured as 4.75 would do
  EXPECT_THAT(refusal(plan, {"a"}, 0.1), HasSubstr("--trial-seconds"));
  plan.trial_time = 520ms;
  plan.idle_time = 460ms;
  EXPECT_THAT(refusal(plan, {"a"}, 0.1), testing::AllOf(HasSubstr("--idle-seconds"), HasSubstr("460 ms")));
  plan.idle_time = 520ms;
  EXPECT_EQ(refusal(plan, {"a"}, 0.1), "accepted");
}

}  // namespace
}  // namespace joulegrid
