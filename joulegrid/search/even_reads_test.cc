#include "joulegrid/search/even_reads.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/grid/distance.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/literal_nest.h"
#include "joulegrid/schedule/nest_reads.h"

namespace joulegrid {
namespace {

double exact_steps(const Gemm& gemm, const Nest& nest) {
  return static_cast<double>(pack(nest_overlays(gemm, nest)).steps.count());
}

TEST(EvenReads, are_the_exact_reads_of_every_array_of_perfect_nests) {
  const std::uint64_t seed = 41;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const test::RandomNest r = test::random_nest(random, true, 100000);
    SCOPED_TRACE(to_string(r.nest));
    // Loops of one trip are left out of a draft, and marks among them fall together; so the nest that the draft stands for
    // counts.
    const NestDraft draft = NestDraft::of(r.gemm, r.nest);
    const Nest nest = draft.nest();
    EvenReads even;
    even_reads(draft, even);
    const NestReads exact = nest_reads(r.gemm, nest);
    ASSERT_EQ(even.reads_per_cell[EvenReads::tmp], static_cast<double>(exact.tmp));
    const auto expect = [&](std::size_t at, const NestArray& array) {
      Wide cells = 0;
      Wide reads = 0;
      for (const auto& run : profile(exact.of(array))) {
        cells += run.cells;
        reads += run.cells * run.reads_per_cell;
      }
      EXPECT_NEAR(even.reads_per_cell[at] * even.cells[at], static_cast<double>(reads), 1e-6) << array.name();
      // Cells that nobody reads are not listed.
      EXPECT_GE(even.cells[at], static_cast<double>(reads > 0 ? cells : 0)) << array.name();
    };
    std::array<std::size_t, 3> level{};
    for (const Operand operand : all_operands) expect(static_cast<std::size_t>(operand), {operand, 0});
    std::size_t at = EvenReads::first_buffer;
    for (const Mark& mark : nest.marks) expect(at++, {mark.operand, ++level.at(static_cast<std::size_t>(mark.operand))});
    ASSERT_EQ(at, even.arrays);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(EvenReads, price_perfect_nests_exactly_forward_and_from_above_reflected) {
  const std::uint64_t seed = 42;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  int dearer = 0;
  for (int round = 0; round < 2000; ++round) {
    const test::RandomNest r = test::random_nest(random, true, 100000);
    SCOPED_TRACE(to_string(r.nest));
    EvenReads even;
    const NestDraft draft = NestDraft::of(r.gemm, r.nest);
    even_reads(draft, even);
    const double exact = exact_steps(r.gemm, draft.nest());
    if (r.nest.reflected) {
      ASSERT_GE(even_steps(even), exact * (1 - 1e-12));
      if (even_steps(even) > exact * (1 + 1e-12)) ++dearer;
    } else {
      ASSERT_NEAR(even_steps(even), exact, exact * 1e-12);
    }
  }
  EXPECT_GT(dearer, 0);  // else this test would not tell the two apart
}

TEST(EvenReads, price_large_clipped_nests_within_a_percent) {
  const char* const nest =
      "through reflected k4 m2 [B] m5 [A] n4 n5 [C] k8 [B] m2 m5 n2 n3 [A] k2 [C] k2 k2 [B] m8 n2 n6 [A] k2 [C] k8 m3 [B] m5 "
      "[A] "
      "n6 [C] k2";
  const Gemm gemm{8192, 8192, 8192};
  const Nest parsed = parse_nest(nest, "nest", gemm);
  EvenReads even;
  even_reads(NestDraft::of(gemm, parsed), even);
  const double exact = exact_steps(gemm, parsed);
  EXPECT_EQ(exact, 20303673515260.0);
  EXPECT_NEAR(even_steps(even), exact, exact * 0.01);
}

TEST(EvenReads, equally_read_arrays_are_laid_side_by_side) {
  EvenReads even;
  even.arrays = 5;
  const std::array<double, 5> reads{3, 7, 3, 0, 3};
  for (std::size_t i = 0; i < even.arrays; ++i) {
    even.reads_per_cell[i] = reads.at(i);
    even.cells[i] = static_cast<double>(10 + i);
  }
  const double first = static_cast<double>(distance_sum(11));
  const double all = static_cast<double>(distance_sum(11 + 10 + 12 + 14));
  EXPECT_EQ(even_steps(even), 7 * first + 3 * (all - first));
}

TEST(EvenReads, sum_distances) {
  double sum = 0;
  for (std::uint64_t cells = 0; cells < 1000; ++cells) {
    EXPECT_NEAR(distance_sum_of(static_cast<double>(cells)), sum, 1e-9 * sum);
    sum += static_cast<double>(distance(cells + 1));
  }
}

}  // namespace
}  // namespace joulegrid
