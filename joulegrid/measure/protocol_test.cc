#include "joulegrid/measure/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "joulegrid/measure/measurement.h"
#include "joulegrid/measure/simulated_device.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
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

}  // namespace
}  // namespace joulegrid
