#include "joulegrid/workload/cpu/mlp_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <limits>

#include "joulegrid/base/random.h"
#include "joulegrid/workload/cpu/mlp_kernel.h"

namespace joulegrid {
namespace {

struct Instructions {
  std::int64_t target;
  bool vnni;
};

std::vector<Instructions> all_instructions() {
  std::vector<Instructions> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    all.push_back({target, false});
    if (target == HWY_AVX3 && mlp_has_vnni()) all.push_back({target, true});
  }
  return all;
}

/// Runs the test's body with every instruction set that this machine has, not only its best.
class EveryInstructionSet : public testing::TestWithParam<Instructions> {
 protected:
  EveryInstructionSet() {
    hwy::SetSupportedTargetsForTest(GetParam().target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~EveryInstructionSet() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }

  static CpuMlpOptions options(unsigned threads = 1) { return {threads, GetParam().vnni}; }

  static void expect_reference(const Mlp& network, const std::vector<std::int8_t>& rows,
                               const std::vector<std::uint64_t>& batches, unsigned threads = 1) {
    const auto layers = mlp_reference(network, rows);
    CpuMlp mlp(network, rows, options(threads));
    ASSERT_EQ(mlp.examples(), rows.size() / network.inputs());
    for (const std::uint64_t batch : batches) {
      mlp.run(batch, 1);
      ASSERT_EQ(mlp.outputs(), layers.back()) << mlp.instruction_set() << ", batch " << batch << ", " << threads << " threads";
    }
    std::vector<MlpLayerShares> shares(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) shares[i].add(layers[i]);
    EXPECT_EQ(mlp.layer_shares(), shares);
  }
};

INSTANTIATE_TEST_SUITE_P(CpuMlp, EveryInstructionSet, testing::ValuesIn(all_instructions()), [](const auto& instructions) {
  return std::string(hwy::TargetName(instructions.param.target)) + (instructions.param.vnni ? "_VNNI" : "");
});

/// A shift that leaves a layer's outputs neither all 0 nor all 127.
constexpr unsigned useful_shift = 9;

TEST_P(EveryInstructionSet, gives_the_references_bytes_for_any_batch_and_number_of_threads) {
  // Widths that no vector divides; 61 examples, so that calls of most batches leave a remainder.
  const Mlp network{MlpOptions{.widths = {37, 70, 33, 129, 10}, .shift = useful_shift}};
  const auto rows = synthetic_mlp_input(61, 37, 3);
  for (const unsigned threads : {1U, 2U, 3U}) expect_reference(network, rows, {1, 3, 16, 17, 60, 61}, threads);
}

TEST_P(EveryInstructionSet, gives_the_references_bytes_where_threads_share_rows) {
  const Mlp network{MlpOptions{.widths = {20, 50, 18, 5}, .shift = useful_shift}};
  const auto rows = synthetic_mlp_input(1003, 20, 4);
  for (const unsigned threads : {1U, 2U, 3U}) {
    expect_reference(network, rows, {97, 200, 300, 501, 1003}, threads);
    const CpuMlp mlp(network, rows, options(threads));
    EXPECT_FALSE(mlp.shares_rows(16));
    EXPECT_TRUE(mlp.shares_rows(1003));
  }
}

TEST_P(EveryInstructionSet, gives_the_references_bytes_for_any_number_of_rows) {
  const Mlp network{MlpOptions{.widths = {16, 40, 16}, .shift = useful_shift}};
  for (std::uint64_t count = 1; count <= 60; ++count) expect_reference(network, synthetic_mlp_input(count, 16, count), {count});
}

TEST_P(EveryInstructionSet, gives_the_references_bytes_for_any_shift) {
  const auto rows = synthetic_mlp_input(9, 100, 5);
  for (unsigned shift = 0; shift <= 31; ++shift) {
    expect_reference(Mlp{MlpOptions{.widths = {100, 90, 20}, .shift = shift}}, rows, {9});
  }
}

TEST_P(EveryInstructionSet, is_exact_for_extreme_values) {
  // Every combination of extremes of inputs and weights, in sums long enough to saturate 16 bits many times.
  constexpr std::uint64_t inputs = 515;
  constexpr std::uint64_t outputs = 36;
  const std::vector<std::int8_t> extremes{-128, -127, -1, 0, 1, 127};
  SplitMix64 random(6);
  for (const std::int8_t value : extremes) {
    Mlp network{MlpOptions{.widths = {inputs, outputs, 17}, .shift = 12}};
    std::vector<std::int8_t> weights;
    for (std::uint64_t i = 0; i < inputs * outputs; ++i) {
      // Columns of one extreme each, then columns of any.
      const std::uint64_t column = i % outputs;
      weights.push_back(extremes[column < extremes.size() ? column : random.below(extremes.size())]);
    }
    network.set_weights(0, weights);
    // The second layer's inputs are 0 to 127; its weights are extremes too.
    std::vector<std::int8_t> second;
    for (std::uint64_t i = 0; i < outputs * 17; ++i) second.push_back(i % 17 < 8 ? std::int8_t{-128} : std::int8_t{127});
    network.set_weights(1, second);
    std::vector<std::int8_t> rows(3 * inputs, value);
    for (std::uint64_t k = 0; k < inputs; ++k) rows[inputs + k] = extremes[random.below(extremes.size())];
    expect_reference(network, rows, {1, 3});
  }
}

TEST_P(EveryInstructionSet, is_exact_for_the_largest_biases) {
  constexpr std::int64_t smallest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  constexpr std::uint64_t inputs = 50;
  constexpr std::uint64_t outputs = 20;
  for (const unsigned shift : {0U, 8U, 24U, 25U, 31U}) {
    Mlp network{MlpOptions{.widths = {inputs, outputs, outputs}, .shift = shift}};
    std::vector<std::vector<std::int8_t>> rows(2);  // the inputs that reach output 0's largest and smallest sum
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const MlpLayer& of = network.layers()[layer];
      std::vector<std::int32_t> biases;
      for (std::uint64_t n = 0; n < outputs; ++n) {
        std::int64_t least = 0;
        std::int64_t most = 0;
        for (std::uint64_t k = 0; k < of.inputs; ++k) {
          const std::int64_t weight = of.weights[k * outputs + n];
          const std::int64_t a = weight * (layer == 0 ? -128 : 0);
          const std::int64_t b = weight * 127;
          most += std::max(a, b);
          least += std::min(a, b);
          if (layer == 0 && n == 0) {
            rows[0].push_back(a > b ? std::int8_t{-128} : std::int8_t{127});
            rows[1].push_back(a > b ? std::int8_t{127} : std::int8_t{-128});
          }
        }
        biases.push_back(static_cast<std::int32_t>(n % 2 == 0 ? largest - most : smallest - least));
      }
      network.set_biases(layer, biases);
    }
    std::vector<std::int8_t> all = synthetic_mlp_input(2, inputs, 7);
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    expect_reference(network, all, {1, 4});
  }
}

TEST_P(EveryInstructionSet, is_exact_for_random_biases) {
  Mlp network{MlpOptions{.widths = {64, 33, 40}, .shift = 4, .weights_range = 20}};
  SplitMix64 random(8);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    std::vector<std::int32_t> biases;
    for (std::uint64_t n = 0; n < network.layers()[layer].outputs; ++n) {
      biases.push_back(static_cast<std::int32_t>(random.below(20'001)) - 10'000);
    }
    network.set_biases(layer, biases);
  }
  expect_reference(network, synthetic_mlp_input(50, 64, 9), {7, 50}, 2);
}

TEST(CpuMlp, the_default_network_gives_the_references_bytes) {
  const Mlp network{MlpOptions{}};
  const auto rows = synthetic_mlp_input(19, network.inputs(), 10);
  const auto layers = mlp_reference(network, rows);
  CpuMlp mlp(network, rows, {2});
  for (const std::uint64_t batch : {std::uint64_t{16}, std::uint64_t{19}}) {
    mlp.run(batch, 1);
    EXPECT_EQ(mlp.outputs(), layers.back());
  }
}

TEST(CpuMlp, a_stage_runs_epochs_and_stages_share_a_network) {
  const Mlp network{MlpOptions{.widths = {10, 20, 5}, .shift = 6}};
  const auto rows = synthetic_mlp_input(21, 10, 11);
  const auto mlp = std::make_shared<CpuMlp>(network, rows, CpuMlpOptions{2});
  const auto one = make_cpu_mlp_stage("logical_batch16", mlp, 16);
  const auto other = make_cpu_mlp_stage("single_full_batch21", mlp, 21);
  EXPECT_EQ(one->name(), "logical_batch16");
  EXPECT_FALSE(one->synchronise());  // nothing to do
  EXPECT_THAT(mlp->outputs(), testing::Each(0));
  one->enqueue(2);
  one->enqueue(1);
  EXPECT_FALSE(one->synchronise());
  const auto outputs = mlp->outputs();
  EXPECT_EQ(outputs, mlp_reference(network, rows).back());
  other->enqueue(1);
  EXPECT_FALSE(other->synchronise());
  EXPECT_EQ(mlp->outputs(), outputs);
}

}  // namespace
}  // namespace joulegrid
