#include "joulegrid/workload/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "joulegrid/base/error.h"
#include "joulegrid/base/random.h"
#include "joulegrid/workload/mlp_epilogue.h"

namespace joulegrid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();

static_assert(mlp_padded_width(784) == 784 && mlp_padded_width(2500) == 2512 && mlp_padded_width(10) == 16);
static_assert(mlp_calls(60'000, 16) == 3750 && mlp_calls(60'001, 16) == 3751 && mlp_calls(5, 5) == 1);
static_assert(mlp_call_rows(35, 16, 0) == 16 && mlp_call_rows(35, 16, 2) == 3);
static_assert(mlp_epilogue(-1, 0) == 0 && mlp_epilogue(127, 0) == 127 && mlp_epilogue(128, 0) == 127);
static_assert(mlp_epilogue(300, 2) == 75 && mlp_epilogue(largest, 24) == 127 && mlp_epilogue(largest, 25) == 63);

TEST(MlpEpilogue, shift_and_relu_may_change_places) {
  SplitMix64 random(1);
  for (int shift = 0; shift <= 31; ++shift) {
    for (int i = 0; i < 1000; ++i) {
      std::int32_t sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(random.next())) >> random.below(32);
      if (i < 4) sum = std::array{smallest, -1, 0, largest}[static_cast<std::size_t>(i)];
      const std::int32_t shifted = sum >> shift;
      const std::int32_t other_order = std::min(std::max(shifted, 0), 127);
      ASSERT_EQ(mlp_epilogue(sum, shift), other_order) << sum << " >> " << shift;
    }
  }
}

TEST(MlpEpilogue, packed_order_is_a_permutation_that_keeps_four_inputs_together) {
  constexpr std::uint64_t inputs = 32;
  constexpr std::uint64_t outputs = 48;
  std::vector<int> hits(inputs * outputs, 0);
  for (std::uint64_t k = 0; k < inputs; ++k) {
    for (std::uint64_t n = 0; n < outputs; ++n) {
      const auto at = mlp_packed_index(k, n, inputs);
      ++hits.at(at);
      EXPECT_EQ(at % 4, k % 4);
      EXPECT_EQ(at / 4, mlp_packed_index(k / 4 * 4, n, inputs) / 4);
    }
  }
  EXPECT_THAT(hits, testing::Each(1));
}

TEST(Mlp, the_default_network_has_the_published_counts) {
  const Mlp network{MlpOptions{}};
  EXPECT_THAT(network.padded_widths(), ElementsAre(784, 2512, 2000, 1504, 1008, 512, 16));
  EXPECT_EQ(mlp_macs_per_row(network.options().widths), Wide{11'965'000});
  EXPECT_EQ(mlp_macs_per_row(network.padded_widths()), Wide{12'041'728});
  EXPECT_EQ(mlp_macs_per_row(network.padded_widths()) * 60'000, Wide{722'503'680'000});
}

TEST(Mlp, weights_come_from_the_generator_in_the_stated_order) {
  const Mlp network{MlpOptions{.widths = {3, 2, 4}}};
  SplitMix64 random(0);
  for (const MlpLayer& layer : network.layers()) {
    for (const std::int8_t weight : layer.weights) EXPECT_EQ(weight, static_cast<int>(random.below(256)) - 128);
    EXPECT_THAT(layer.biases, testing::Each(0));
  }
}

TEST(Mlp, weights_fill_their_range) {
  for (const unsigned range : {1U, 3U, 127U, 128U}) {
    const Mlp network{MlpOptions{.widths = {100, 100}, .weights_range = range}};
    const auto [least, most] = std::minmax_element(network.layers()[0].weights.begin(), network.layers()[0].weights.end());
    EXPECT_EQ(*least, -static_cast<int>(range));
    EXPECT_EQ(*most, std::min(static_cast<int>(range), 127));
  }
}

TEST(Mlp, options_must_make_sense) {
  const auto refused = [](const MlpOptions& options) { EXPECT_THROW(Mlp{options}, Error); };
  refused({.widths = {4}});
  refused({.widths = {4, 0}});
  refused({.widths = {65'537, 1}});
  refused({.widths = {4, 4}, .shift = 32});
  refused({.widths = {4, 4}, .weights_range = 0});
  refused({.widths = {4, 4}, .weights_range = 129});
}

/// A small example by hand.
TEST(Mlp, reference_does_what_the_epilogue_says) {
  Mlp network{MlpOptions{.widths = {2, 3, 1}, .shift = 1}};
  network.set_weights(0, {1, -1, 2,  //
                          2, 3, -128});
  network.set_biases(0, {5, 0, -1});
  network.set_weights(1, {1, 1, -1});
  // Row 10, 20: sums 50 + 5, 50, -2540 - 1; row -128, 3: -122 + 5, 137, -640 - 1.
  const std::vector<std::int8_t> rows{10, 20, -128, 3};
  const auto layers = mlp_reference(network, rows);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_THAT(layers[0], ElementsAre(27, 25, 0, 0, 68, 0));
  EXPECT_THAT(layers[1], ElementsAre(26, 34));
}

TEST(Mlp, biases_that_could_overflow_are_refused_and_no_others) {
  Mlp network{MlpOptions{.widths = {2, 2, 1}}};
  network.set_weights(0, {-128, 127,  //
                          100, 0});
  // Output 0: products from -128 · 127 - 128 · 100 to 128 · 128 + 127 · 100; output 1: from -128 · 127 to 127 · 127.
  const std::int32_t least = -128 * 127 - 128 * 100;
  const std::int32_t most = 128 * 128 + 127 * 100;
  network.set_biases(0, {largest - most, smallest + 128 * 127});
  network.set_biases(0, {smallest - least, largest - 127 * 127});
  const auto refused = [&](std::vector<std::int32_t> biases, const std::string& where) {
    try {
      network.set_biases(0, std::move(biases));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::overflow);
      EXPECT_THAT(error.what(), HasSubstr(where));
    }
  };
  refused({largest - most + 1, 0}, "layer 1, output 0");
  refused({smallest - least - 1, 0}, "layer 1, output 0");
  refused({0, largest - 127 * 127 + 1}, "layer 1, output 1");
  refused({0, smallest + 128 * 127 - 1}, "layer 1, output 1");
  // Values between layers are not negative: a negative weight's product never exceeds 0.
  network.set_weights(1, {-128, -128});
  network.set_biases(1, {largest});
}

TEST(MlpLayerShares, count_zeros_and_saturated_values) {
  MlpLayerShares shares;
  const std::vector<std::int8_t> row{0, 127, 126, 0, 1};
  shares.add(row);
  EXPECT_EQ(shares, (MlpLayerShares{5, 2, 1}));
}

TEST(SyntheticMlpInput, reaches_both_ends) {
  const auto values = synthetic_mlp_input(100, 100, 1);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(*least, -128);
  EXPECT_EQ(*most, 127);
  EXPECT_NE(values, synthetic_mlp_input(100, 100, 2));
}

}  // namespace
}  // namespace joulegrid
