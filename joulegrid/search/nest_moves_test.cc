#include "joulegrid/search/nest_moves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "joulegrid/schedule/nest_reads.h"

namespace joulegrid {
namespace {

TEST(NestMoves, keep_a_nest_of_the_gemm) {
  const std::uint64_t seed = 44;
  RecordProperty("seed", std::to_string(seed));
  for (const Gemm& gemm : {Gemm{1, 1, 1}, Gemm{1, 1, 7}, Gemm{13, 8, 24}, Gemm{30, 1, 17}}) {
    Random random(seed, 0);
    NestDraft draft = NestDraft::of_small_factors(gemm);
    shuffle(draft, random);
    for (int i = 0; i < 3000; ++i) {
      const NestDraft before = draft;
      const bool cuts = change(draft, random);
      const Nest nest = draft.nest();
      ASSERT_NO_THROW(parse_nest(to_string(nest), "nest", gemm)) << to_string(nest);
      // What is worked out while moving is what making it anew gives.
      const NestDraft anew = NestDraft::of(gemm, nest);
      ASSERT_EQ(anew.nest(), nest);
      for (const Dimension dimension : all_dimensions) {
        const Cuts& kept = draft.of(dimension);
        for (std::size_t j = 0; j <= kept.loops; ++j) {
          ASSERT_EQ(kept.blocks.at(j), anew.of(dimension).blocks.at(j)) << to_string(nest);
          ASSERT_EQ(kept.whole.at(j), anew.of(dimension).whole.at(j)) << to_string(nest);
          ASSERT_EQ(kept.mean.at(j), anew.of(dimension).mean.at(j)) << to_string(nest);
        }
        if (!cuts) {
          ASSERT_EQ(before.of(dimension).trips, kept.trips);
        }
        if (i % 100 == 0) {
          ASSERT_NO_THROW(nest_reads(gemm, nest));
        }
      }
    }
  }
}

TEST(NestMoves, reach_every_nest_of_a_tiny_gemm) {
  // 2 × 2 × 1: the loops m2 n2 in both orders, two depths with any of 8 sets of marks, four variants; or with the two loops
  // over a dimension joined there is nothing more, as sizes of 2 have one loop.
  const Gemm gemm{2, 1, 2};
  Random random(1, 0);
  NestDraft draft = NestDraft::of_small_factors(gemm);
  std::set<std::string> seen;
  for (int i = 0; i < 100000; ++i) {
    change(draft, random);
    seen.insert(to_string(draft.nest()));
  }
  EXPECT_EQ(seen.size(), 2U * 8 * 8 * 4);
}

TEST(NestMoves, split_primes_and_join_factors) {
  const Gemm gemm{101, 1, 1};
  Random random(2, 0);
  NestDraft draft = NestDraft::of(gemm, parse_nest("m101", "nest", gemm));
  change(draft, random);
  EXPECT_EQ(draft.nest().loops.size(), 1U);  // with a single loop only the mark changes
  draft = NestDraft::of(gemm, parse_nest("m2 m51", "nest", gemm));
  std::set<std::size_t> counts;
  for (int i = 0; i < 20000; ++i) {
    change(draft, random);
    counts.insert(draft.nest().loops.size());
  }
  EXPECT_TRUE(counts.contains(2));
  EXPECT_TRUE(counts.contains(5));
}

TEST(Random, is_the_same_for_the_same_seed_and_differs_between_sequences) {
  Random a(7, 3), b(7, 3), c(7, 4), d(8, 3);
  std::size_t same_as_c = 0, same_as_d = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t x = a.below(1000);
    EXPECT_LT(x, 1000U);
    EXPECT_EQ(x, b.below(1000));
    same_as_c += x == c.below(1000) ? 1U : 0U;
    same_as_d += x == d.below(1000) ? 1U : 0U;
  }
  EXPECT_LT(same_as_c, 20U);
  EXPECT_LT(same_as_d, 20U);
}

TEST(Random, exponential_numbers_have_mean_one) {
  Random random(9, 0);
  double sum = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double x = random.exponential();
    EXPECT_GT(x, 0);
    sum += x;
  }
  EXPECT_NEAR(sum / count, 1, 0.02);
}

}  // namespace
}  // namespace joulegrid
