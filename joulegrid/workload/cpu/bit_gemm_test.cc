#undef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // as bit_gemm.cc, so that it is among the instruction sets of this test
#include "joulegrid/workload/cpu/bit_gemm.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <vector>

namespace joulegrid {
namespace {

/// Runs the test's body with every instruction set that this machine has, not only its best.
class EveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  EveryTarget() {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~EveryTarget() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

INSTANTIATE_TEST_SUITE_P(BitGemm, EveryTarget, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

void expect_what_a_plain_loop_says(const GemmShape& shape, const std::string& distribution, unsigned threads) {
  const GemmValues values = parse_gemm_values(distribution, shape.m + shape.k, "values");
  const std::size_t words = (shape.k + 63) / 64;
  std::vector<std::uint64_t> a(shape.m * words);
  std::vector<std::uint64_t> b(shape.n * words);
  fill_bits(a, shape.k, values, GemmOperand::a, 1);
  fill_bits(b, shape.k, values, GemmOperand::b, 1);
  BitGemm gemm(shape, threads);
  gemm.pack_a(a);
  gemm.pack_b(b);
  std::vector<std::int32_t> c(shape.m * shape.n, -1);
  gemm.multiply(c, 2);
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      std::int32_t sum = 0;
      for (std::size_t word = 0; word < words; ++word) sum += std::popcount(a[i * words + word] & b[j * words + word]);
      ASSERT_EQ(c[i * shape.n + j], sum) << i << "," << j << " of " << shape.m << "x" << shape.k << "x" << shape.n << " "
                                         << distribution;
    }
  }
}

TEST_P(EveryTarget, counts_what_a_plain_loop_counts_whatever_the_depth) {
  EXPECT_EQ(BitGemm::instruction_set(), hwy::TargetName(GetParam()));
  for (const std::uint64_t k : {1U, 31U, 32U, 33U, 63U, 64U, 65U, 511U, 512U, 513U, 992U, 993U, 1024U, 4096U, 4097U, 9000U}) {
    for (const std::string distribution : {"uniform", "ones", "zeros", "sparse:0.9"}) {
      expect_what_a_plain_loop_says({9, k, 35}, distribution, 1);
    }
  }
}

TEST_P(EveryTarget, counts_what_a_plain_loop_counts_whatever_the_size) {
  for (const std::uint64_t m : {1U, 7U, 8U, 9U, 65U, 130U}) {
    for (const std::uint64_t n : {1U, 3U, 4U, 5U, 8U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 77U}) {
      expect_what_a_plain_loop_says({m, 130, n}, "uniform", 1);
    }
  }
}

TEST_P(EveryTarget, counts_the_same_on_any_number_of_threads) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) expect_what_a_plain_loop_says({300, 513, 129}, "uniform", threads);
}

TEST(BitGemm, does_nothing_when_nothing_is_asked_for) {
  BitGemm gemm({1, 1, 1}, 2);
  std::vector<std::int32_t> c{-1};
  gemm.multiply(c, 0);
  EXPECT_EQ(c[0], -1);
}

}  // namespace
}  // namespace joulegrid
