#include "joulegrid/workload/gemm_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

GemmValues values_of(const std::string& text, std::uint64_t seed = 1) { return parse_gemm_values(text, seed, "--values"); }

const std::vector<std::string> distributions{"uniform", "normal", "zeros", "ones", "sparse:0.7"};

template <typename T>
std::vector<T> filled(const std::string& text, std::size_t size, GemmOperand operand = GemmOperand::a, unsigned threads = 1,
                      std::uint64_t seed = 1) {
  std::vector<T> out(size);
  fill(std::span<T>(out), values_of(text, seed), operand, threads);
  return out;
}

std::vector<std::uint64_t> filled_bits(const std::string& text, std::size_t lines, std::uint64_t bits, unsigned threads = 1,
                                       GemmOperand operand = GemmOperand::a) {
  std::vector<std::uint64_t> out(lines * ((bits + 63) / 64));
  fill_bits(out, bits, values_of(text), operand, threads);
  return out;
}

bool same(float a, float b) { return a == b; }
bool same(std::int8_t a, std::int8_t b) { return a == b; }
bool same(BFloat16 a, BFloat16 b) { return a.bits == b.bits; }

template <typename T>
class Filled : public ::testing::Test {};
using Types = ::testing::Types<float, BFloat16, std::int8_t>;
TYPED_TEST_SUITE(Filled, Types);

TYPED_TEST(Filled, is_the_same_for_any_number_of_threads_and_longer_arrays_begin_alike) {
  for (const std::string& text : distributions) {
    const auto one = filled<TypeParam>(text, 1001);
    for (const unsigned threads : {2U, 3U, 64U}) {
      const auto many = filled<TypeParam>(text, 1001, GemmOperand::a, threads);
      for (std::size_t i = 0; i < one.size(); ++i) ASSERT_TRUE(same(one[i], many[i])) << text << " " << i;
    }
    const auto longer = filled<TypeParam>(text, 2000);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_TRUE(same(one[i], longer[i])) << text << " " << i;
  }
}

TYPED_TEST(Filled, differs_between_operands_and_seeds) {
  for (const std::string text : {"uniform", "normal", "sparse:0.5"}) {
    const auto a = filled<TypeParam>(text, 1000);
    const auto b = filled<TypeParam>(text, 1000, GemmOperand::b);
    const auto other = filled<TypeParam>(text, 1000, GemmOperand::a, 1, 2);
    int same_b = 0;
    int same_other = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      same_b += same(a[i], b[i]) ? 1 : 0;
      same_other += same(a[i], other[i]) ? 1 : 0;
    }
    EXPECT_LT(same_b, 400) << text;
    EXPECT_LT(same_other, 400) << text;
  }
}

template <typename T>
struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0, zeros = 0;
  explicit Moments(const std::vector<T>& values) {
    double squares = 0;
    for (const T value : values) {
      const auto v = static_cast<double>(value);
      mean += v;
      squares += v * v;
      least = std::min(least, v);
      most = std::max(most, v);
      zeros += v == 0 ? 1 : 0;
    }
    const auto n = static_cast<double>(values.size());
    mean /= n;
    deviation = std::sqrt(squares / n - mean * mean);
    zeros /= n;
  }
};

TEST(GemmValues, have_the_stated_ranges) {
  constexpr std::size_t size = 200'000;
  const Moments uniform(filled<float>("uniform", size));
  EXPECT_NEAR(uniform.mean, 0, 0.01);
  EXPECT_NEAR(uniform.deviation, 1 / std::sqrt(3), 0.01);
  EXPECT_GT(uniform.least, -1);
  EXPECT_LT(uniform.most, 1);
  EXPECT_EQ(uniform.zeros, 0);
  const Moments normal(filled<float>("normal", size));
  EXPECT_NEAR(normal.mean, 0, 0.02);
  EXPECT_NEAR(normal.deviation, 1, 0.02);
  EXPECT_GT(normal.most, 3.5);
  const Moments bytes(filled<std::int8_t>("uniform", size));
  EXPECT_EQ(bytes.least, -128);
  EXPECT_EQ(bytes.most, 127);
  EXPECT_NEAR(bytes.mean, -0.5, 1);
  EXPECT_NEAR(bytes.deviation, 73.9, 1);
  const Moments normal_bytes(filled<std::int8_t>("normal", size));
  EXPECT_NEAR(normal_bytes.deviation, 32, 0.5);
  EXPECT_EQ(normal_bytes.least, -128);
  EXPECT_EQ(normal_bytes.most, 127);
  EXPECT_NEAR(Moments(filled<float>("sparse:0.7", size)).zeros, 0.7, 0.01);
  EXPECT_NEAR(Moments(filled<std::int8_t>("sparse:0.7", size)).zeros, 0.7, 0.01);
  EXPECT_EQ(Moments(filled<std::int8_t>("sparse:0", size)).zeros, 0);
  EXPECT_EQ(Moments(filled<float>("sparse:1", 1000)).zeros, 1);
  EXPECT_EQ(filled<float>("ones", 3), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(filled<std::int8_t>("zeros", 2), (std::vector<std::int8_t>{0, 0}));
  EXPECT_EQ(to_float(filled<BFloat16>("ones", 1)[0]), 1.0F);
}

TEST(GemmValues, of_bf16_are_those_of_fp32_rounded) {
  for (const std::string text : {"uniform", "normal", "sparse:0.5"}) {
    const auto full = filled<float>(text, 1000);
    const auto half = filled<BFloat16>(text, 1000);
    for (std::size_t i = 0; i < full.size(); ++i) {
      ASSERT_LE(std::abs(to_float(half[i]) - full[i]), 0x1p-8F * std::abs(full[i])) << full[i];
    }
  }
}

TEST(BFloat16, rounds_to_nearest_and_ties_to_even) {
  EXPECT_EQ(to_bfloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(to_bfloat16(1.0F + 0x1p-8F).bits, 0x3F80);
  EXPECT_EQ(to_bfloat16(1.0F + 3 * 0x1p-8F).bits, 0x3F82);
  EXPECT_EQ(to_bfloat16(1.0F + 0x1p-8F + 0x1p-20F).bits, 0x3F81);
  EXPECT_EQ(to_bfloat16(-2.5F).bits, 0xC020);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
}

TEST(GemmBits, end_with_zeros_and_are_the_same_for_any_number_of_threads) {
  for (const std::string& text : distributions) {
    for (const std::uint64_t bits : {1U, 63U, 64U, 65U, 200U}) {
      const auto one = filled_bits(text, 17, bits);
      EXPECT_EQ(one, filled_bits(text, 17, bits, 3)) << text;
      const std::size_t words = (bits + 63) / 64;
      for (std::size_t line = 0; line < 17 && bits % 64 != 0; ++line)
        EXPECT_EQ(one[line * words + words - 1] >> (bits % 64), 0U);
    }
  }
}

TEST(GemmBits, have_the_stated_shares) {
  const auto share = [](const std::string& text) {
    double ones = 0;
    for (const std::uint64_t word : filled_bits(text, 100, 6400)) ones += std::popcount(word);
    return ones / 640'000;
  };
  EXPECT_NEAR(share("uniform"), 0.5, 0.01);
  EXPECT_NEAR(share("normal"), 0.5, 0.01);
  EXPECT_EQ(share("zeros"), 0);
  EXPECT_EQ(share("ones"), 1);
  EXPECT_NEAR(share("sparse:0.7"), 0.3, 0.01);
  EXPECT_NE(filled_bits("uniform", 3, 64), filled_bits("uniform", 3, 64, 1, GemmOperand::b));
}

TEST(GemmValues, are_named_as_they_are_asked_for) {
  for (const std::string text : {"uniform", "normal", "zeros", "ones", "sparse:0.7", "sparse:0", "sparse:1", "sparse:0.125"}) {
    EXPECT_EQ(to_string(values_of(text)), text);
  }
  EXPECT_EQ(values_of("uniform", 7).seed, 7U);
  for (const std::string text :
       {"", "gaussian", "sparse", "sparse:", "sparse:1.5", "sparse:-0.1", "sparse:nan", "sparse:0.5x"}) {
    try {
      values_of(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_THAT(error.what(), HasSubstr("--values: expected "));
    }
  }
}

}  // namespace
}  // namespace joulegrid
