#include "joulegrid/workload/cpu/cpu_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>

#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/base/random.h"
#include "joulegrid/workload/cpu/one_dnn.h"
#include "joulegrid/workload/memory.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

/// Why oneDNN cannot do products of this type here, if it cannot.
std::optional<std::string> missing(one_dnn::Matmul::Types types) {
  try {
    one_dnn::Matmul({1, 1, 1}, types, 1);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return error.what();
  }
  return std::nullopt;
}

/// The same of exact int8 products.
std::optional<std::string> missing_int8() {
  try {
    one_dnn::Int8Product({1, 1, 1}, 1);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return error.what();
  }
  return std::nullopt;
}

constexpr one_dnn::Matmul::Types unsigned_types{one_dnn::Type::u8, one_dnn::Type::s8, one_dnn::Type::s32};
constexpr one_dnn::Matmul::Types fp32_types{one_dnn::Type::f32, one_dnn::Type::f32, one_dnn::Type::f32};
constexpr one_dnn::Matmul::Types bf16_types{one_dnn::Type::bf16, one_dnn::Type::bf16, one_dnn::Type::bf16};

const std::vector<GemmShape> shapes{{1, 1, 1},    {3, 63, 5},    {16, 64, 16}, {17, 65, 31},   {5, 511, 7},
                                    {33, 513, 9}, {64, 784, 48}, {1, 300, 1},  {67, 128, 129}, {40, 2100, 70}};

void expect_exact(const GemmShape& shape, const std::vector<std::int8_t>& a, const std::vector<std::int8_t>& b,
                  unsigned threads) {
  std::vector<std::int32_t> c(shape.m * shape.n, -1);
  ASSERT_FALSE(one_dnn::Int8Product(shape, threads).multiply(a.data(), b.data(), c.data()));
  // The same bytes with A + 128, which is unsigned.
  std::vector<std::uint8_t> shifted(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) shifted[i] = static_cast<std::uint8_t>(a[i] + 128);
  std::vector<std::int32_t> c_shifted(shape.m * shape.n, -1);
  const bool fits = shape.k <= 65'793;  // sums of 255 · -128
  if (fits) {
    one_dnn::Matmul matmul(shape, unsigned_types, threads);
    matmul.pack_b(b.data());
    ASSERT_FALSE(matmul.multiply(shifted.data(), c_shifted.data()));
  }
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      std::int32_t sum = 0;
      std::int64_t columns_sum = 0;
      for (std::size_t k = 0; k < shape.k; ++k) {
        sum += a[i * shape.k + k] * b[k * shape.n + j];
        columns_sum += b[k * shape.n + j];
      }
      ASSERT_EQ(c[i * shape.n + j], sum) << i << "," << j << " of " << shape.m << "x" << shape.k << "x" << shape.n;
      ASSERT_TRUE(!fits || c_shifted[i * shape.n + j] == sum + 128 * columns_sum);
    }
  }
}

TEST(OneDnnInt8, sums_exactly_what_a_plain_loop_sums) {
  if (const auto why = missing_int8()) GTEST_SKIP() << *why;
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const GemmShape& shape : shapes) {
      std::vector<std::int8_t> a(shape.m * shape.k);
      std::vector<std::int8_t> b(shape.k * shape.n);
      fill(a, {}, GemmOperand::a, 1);
      fill(b, {}, GemmOperand::b, 1);
      expect_exact(shape, a, b, threads);
      SplitMix64 random(shape.k);
      for (std::int8_t& value : a) value = random.below(2) == 0 ? -128 : 127;
      for (std::int8_t& value : b) value = random.below(2) == 0 ? -128 : 127;
      expect_exact(shape, a, b, threads);
    }
  }
}

TEST(OneDnnInt8, does_not_saturate) {
  if (const auto why = missing_int8()) GTEST_SKIP() << *why;
  for (const int a : {-128, 127, 0}) {
    for (const int b : {-128, 127}) {
      const GemmShape shape{4, 131'071, 3};  // the largest sums that fit
      expect_exact(shape, std::vector<std::int8_t>(shape.m * shape.k, static_cast<std::int8_t>(a)),
                   std::vector<std::int8_t>(shape.k * shape.n, static_cast<std::int8_t>(b)), 2);
    }
  }
}

/// A sum of k rounded products in any order, fused or not, is off by at most gamma_k · Σ|a b|, gamma_k = k u / (1 − k u), u =
/// 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 3.1); beyond the smallest normal number,
/// as denormal ones may be flushed to zero. BF16 products are exact in FP32; a result is rounded once more, by 2^-8.
template <typename T>
void expect_within_the_bound(const GemmShape& shape, const std::string& distribution, unsigned threads,
                             one_dnn::Matmul::Types types) {
  const auto real = [](T value) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<double>(value);
    else
      return static_cast<double>(to_float(value));
  };
  const GemmValues values = parse_gemm_values(distribution, 3, "values");
  std::vector<T> a(shape.m * shape.k);
  std::vector<T> b(shape.k * shape.n);
  std::vector<T> c(shape.m * shape.n);
  fill(std::span<T>(a), values, GemmOperand::a, 1);
  fill(std::span<T>(b), values, GemmOperand::b, 1);
  one_dnn::Matmul matmul(shape, types, threads);
  matmul.pack_b(b.data());
  ASSERT_FALSE(matmul.multiply(a.data(), c.data()));
  const double ku = static_cast<double>(shape.k) * 0x1p-24;
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      double sum = 0;
      double size = 0;
      for (std::size_t k = 0; k < shape.k; ++k) {
        const double product = real(a[i * shape.k + k]) * real(b[k * shape.n + j]);
        sum += product;
        size += std::abs(product);
      }
      double bound = ku / (1 - ku) * size + static_cast<double>(shape.k) * 0x1p-126;
      if (!std::is_same_v<T, float>) bound += 0x1p-8 * (std::abs(sum) + bound);
      ASSERT_LE(std::abs(real(c[i * shape.n + j]) - sum), bound)
          << i << "," << j << " of " << shape.m << "x" << shape.k << "x" << shape.n << " " << distribution;
    }
  }
}

TEST(OneDnnFp32, is_within_the_error_of_a_sum_in_single_precision) {
  if (const auto why = missing(fp32_types)) GTEST_SKIP() << *why;
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const GemmShape& shape : shapes) {
      for (const std::string text : {"uniform", "normal", "ones", "zeros", "sparse:0.9"}) {
        expect_within_the_bound<float>(shape, text, threads, fp32_types);
      }
    }
  }
}

TEST(OneDnnBf16, is_within_the_error_of_a_sum_in_single_precision_rounded_once) {
  if (const auto why = missing(bf16_types)) GTEST_SKIP() << *why;
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const GemmShape& shape : shapes) {
      for (const std::string text : {"uniform", "normal", "ones", "zeros", "sparse:0.9"}) {
        expect_within_the_bound<BFloat16>(shape, text, threads, bf16_types);
      }
    }
  }
}

TEST(CpuGemm, stages_multiply_the_values_operands) {
  if (const auto why = missing_int8()) GTEST_SKIP() << *why;
  const GemmShape shape{20, 70, 34};
  const GemmValues values = parse_gemm_values("normal", 5, "values");
  for (const unsigned threads : {1U, 2U, 3U}) {
    const auto stages = make_cpu_gemms({"b1_and_popcount", "int8"}, shape, values, threads);
    ASSERT_EQ(stages.size(), 2U);
    for (const auto& stage : stages) {
      stage->enqueue(2);
      stage->enqueue(1);
      EXPECT_FALSE(stage->synchronise());
      EXPECT_FALSE(stage->synchronise());
    }
    std::vector<std::int8_t> a(shape.m * shape.k);
    std::vector<std::int8_t> b(shape.k * shape.n);
    fill(a, values, GemmOperand::a, 1);
    fill(b, values, GemmOperand::b, 1);
    std::vector<std::uint64_t> a_bits(shape.m * 2);
    std::vector<std::uint64_t> b_bits(shape.n * 2);
    fill_bits(a_bits, shape.k, values, GemmOperand::a, 1);
    fill_bits(b_bits, shape.k, values, GemmOperand::b, 1);
    for (std::size_t i = 0; i < shape.m; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) {
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < shape.k; ++k) sum += a[i * shape.k + k] * b[k * shape.n + j];
        ASSERT_EQ(stages[1]->output(i, j), sum);
        ASSERT_EQ(stages[0]->output(i, j),
                  std::popcount(a_bits[i * 2] & b_bits[j * 2]) + std::popcount(a_bits[i * 2 + 1] & b_bits[j * 2 + 1]));
      }
    }
  }
}

TEST(CpuGemm, every_stage_has_its_name_and_says_what_does_the_work) {
  if (const auto why = missing(bf16_types)) GTEST_SKIP() << *why;
  if (const auto why = missing_int8()) GTEST_SKIP() << *why;
  const auto stages = make_cpu_gemms(cpu_gemm_names(), {8, 8, 8}, {}, 1);
  const std::vector<std::string> semantics{"FP32 x FP32 -> FP32", "BF16 x BF16 -> BF16", "signed INT8 x signed INT8 -> INT32",
                                           "packed B1 AND + population count -> INT32"};
  ASSERT_EQ(stages.size(), semantics.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(stages[i]->name(), cpu_gemm_names()[i]);
    const Json facts = parse_json(stages[i]->facts(), "facts");
    EXPECT_THAT(facts["semantics"].get<std::string>(), HasSubstr(semantics[i]));
    EXPECT_FALSE(facts["kernel"].get<std::string>().empty());
    EXPECT_FALSE(parse_json(stages[i]->environment(), "environment").empty());
    stages[i]->enqueue(1);
    EXPECT_FALSE(stages[i]->synchronise());
    EXPECT_TRUE(std::isfinite(stages[i]->output(7, 7)));
  }
}

void expect_refused(const std::string& name, const GemmShape& shape, ErrorCode code, const std::string& says) {
  try {
    make_cpu_gemms({name}, shape, {}, 1);
    ADD_FAILURE() << name;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(CpuGemm, refuses_what_there_is_not_and_what_does_not_fit) {
  expect_refused("fp64", {8, 8, 8}, ErrorCode::bad_input,
                 "'fp64' on a CPU; there are strict_fp32, bf16, int8, b1_and_popcount");
  expect_refused("int8", {1, 131'072, 1}, ErrorCode::bad_input, "at most 131071 do");
  expect_refused("b1_and_popcount", {1, std::uint64_t{1} << 31U, 1}, ErrorCode::bad_input, "at most 2147483647 do");
  for (const std::string name : {"strict_fp32", "bf16", "b1_and_popcount"}) {
    expect_refused(name, {std::uint64_t{1} << 40U, 8, std::uint64_t{1} << 40U}, ErrorCode::unavailable,
                   "GiB of memory, of which");
  }
}

TEST(Memory, what_is_available_is_more_than_nothing_and_less_than_everything) {
  EXPECT_GT(available_memory(), Wide{1} << 20U);
  require_memory(1, "a byte");
  EXPECT_THROW(require_memory(~Wide{0}, "everything"), Error);
}

}  // namespace
}  // namespace joulegrid
