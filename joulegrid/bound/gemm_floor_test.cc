#include "joulegrid/bound/gemm_floor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "joulegrid/bound/least_slow_reads.h"
#include "joulegrid/bound/projections.h"
#include "joulegrid/bound/walked_programs.h"

namespace joulegrid {
namespace {

/// The statements of docs/floor.md for one number of fast cells, written down once more; signed, as they stand there.
using Signed = __int128;

Signed theorem_1(const Gemm& gemm, Signed fast) {
  const auto products = static_cast<std::uint64_t>(gemm.macs());
  Signed most = 0;
  for (std::uint64_t size = 1; size <= products; ++size) {
    const auto block = [&](std::uint64_t p) { return std::max<Signed>(0, static_cast<Signed>(least_projections(p)) - fast); };
    most = std::max(most, static_cast<Signed>(products / size) * block(size) + block(products % size));
  }
  return most - std::min<Signed>(fast, static_cast<Signed>(gemm.m * gemm.n));
}

Signed theorem_3(const Gemm& gemm, Signed fast) {
  const auto products = static_cast<std::uint64_t>(gemm.macs());
  Signed most = 0;
  for (std::uint64_t size = 1; size <= products; ++size) {
    const auto block = [&](std::uint64_t p) { return std::max<Signed>(0, static_cast<Signed>(least_loads()[p]) - 2 * fast); };
    most = std::max(most, static_cast<Signed>(products / size) * block(size) + block(products % size));
  }
  return most - std::min<Signed>(fast, static_cast<Signed>(gemm.m * gemm.n));
}

Signed proposition_2(const Gemm& gemm, Signed fast) {
  return std::max<Signed>(0, static_cast<Signed>(gemm.m * gemm.k + gemm.k * gemm.n) - fast) +
         std::max<Signed>(0, static_cast<Signed>(gemm.m * gemm.n) - fast);
}

std::string text(const Gemm& g) { return std::to_string(g.m) + "×" + std::to_string(g.k) + "×" + std::to_string(g.n); }

TEST(GemmFloor, search_of_all_programs_finds_the_known_fewest_slow_reads_of_2x2x2) {
  const std::array<unsigned, 3> known{19, 14, 10};
  for (unsigned fast = 1; fast <= known.size(); ++fast)
    EXPECT_EQ(testing::least_slow_reads(testing::matrix_product(2, 2, 2), fast), known[fast - 1]) << fast;
}

TEST(GemmFloor, theorems_are_never_above_the_best_of_all_tiny_programs) {
  for (const Gemm& gemm :
       {Gemm{1, 1, 1}, Gemm{2, 1, 1}, Gemm{1, 2, 1}, Gemm{1, 1, 2}, Gemm{2, 1, 2}, Gemm{1, 2, 2}, Gemm{2, 2, 1}, Gemm{1, 3, 1},
        Gemm{1, 4, 1}, Gemm{3, 1, 2}, Gemm{1, 2, 3}, Gemm{3, 2, 1}, Gemm{1, 3, 2}, Gemm{3, 1, 3}, Gemm{2, 2, 2}}) {
    const auto problem =
        testing::matrix_product(static_cast<unsigned>(gemm.m), static_cast<unsigned>(gemm.k), static_cast<unsigned>(gemm.n));
    const Floor floor = gemm_floor(gemm);
    const unsigned most_fast = gemm.macs() > 4 ? 2 : 4;
    for (unsigned fast = 1; fast <= most_fast; ++fast) {
      const unsigned best = testing::least_slow_reads(problem, fast);
      EXPECT_LE(theorem_1(gemm, fast), best) << text(gemm) << " " << fast;
      EXPECT_LE(proposition_2(gemm, fast), best) << text(gemm) << " " << fast;
      EXPECT_LE(theorem_3(gemm, fast), testing::least_slow_reads(problem, fast, 1)) << text(gemm) << " " << fast;
      for (const FloorLevel& level : floor.levels) {
        if (level.last_radius * level.last_radius == fast) {
          EXPECT_LE(level.slow_reads.count(), Wide{best}) << text(gemm);
        }
      }
    }
  }
}

TEST(GemmFloor, seven_slow_reads_of_2x2x2_with_four_fast_cells) {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "four million states take minutes in this build";
#endif
  EXPECT_EQ(testing::least_slow_reads(testing::matrix_product(2, 2, 2), 4), 7U);
  EXPECT_LE(theorem_1({2, 2, 2}, 4), 7);
}

TEST(GemmFloor, walker_counts_what_the_published_prices_say) {
  EXPECT_EQ(testing::walk_nest(testing::parse_nest("m2 n4 [C] k16 [B] m8 [A] n4")).steps(), Wide{73602});
  EXPECT_EQ(testing::walk_nest(testing::parse_nest("n2 n2 k2 k2 k2 [C] m2 m2 m2 m2 [B] n2 n2 [A] k2 [C]")).steps(),
            Wide{71922});
}

TEST(GemmFloor, holds_where_a_textbook_formula_does_not) {
  const testing::ReadCounts counts = testing::walk_nest(testing::parse_nest("n400 [B] m23"));
  EXPECT_EQ(counts.steps(), Wide{678937});
  EXPECT_EQ(counts.slow_reads(25), Wide{9599});
  // 2·mnk/√S + mn reads at S = 25 would be 12,880, and 996,109 steps over all levels.
  testing::expect_below(gemm_floor({23, 1, 400}), counts, "n400 [B] m23");
}

TEST(GemmFloor, is_never_above_a_walked_nest_level_by_level) {
  const std::uint64_t seed = 33;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    const std::vector<testing::NestItem> nest = testing::random_nest(random);
    const Gemm gemm = testing::gemm_of(nest);
    if (gemm.macs() > 6000) continue;
    const testing::ReadCounts counts = testing::walk_nest(nest);
    testing::expect_below(gemm_floor(gemm), counts, text(gemm) + ", round " + std::to_string(round));
    if (gemm.macs() > load_products) continue;
    for (std::uint64_t fast = 0; fast < 60; ++fast) {
      const auto slow = static_cast<Signed>(counts.slow_reads(fast));
      EXPECT_LE(theorem_1(gemm, static_cast<Signed>(fast)), slow) << text(gemm) << " " << fast;
      EXPECT_LE(proposition_2(gemm, static_cast<Signed>(fast)), slow) << text(gemm) << " " << fast;
      const auto beyond = static_cast<Signed>(counts.slow_reads(0) - (4 * gemm.macs() - gemm.m * gemm.n));
      EXPECT_LE(theorem_3(gemm, static_cast<Signed>(fast)), slow + beyond) << text(gemm) << " " << fast;
    }
  }
}

}  // namespace
}  // namespace joulegrid
