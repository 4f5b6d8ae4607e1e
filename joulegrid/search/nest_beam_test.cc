#include "joulegrid/search/nest_beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "joulegrid/search/even_reads.h"

namespace joulegrid {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

double price(const NestDraft& draft) {
  EvenReads reads;
  even_reads(draft, reads);
  return even_steps(reads);
}

/// The cheapest of all nests whose loops are the GEMM's small factors: every order, every set of marks.
double cheapest(const Gemm& gemm, bool through, bool reflected) {
  NestDraft draft = NestDraft::of_small_factors(gemm);
  draft.order.through = through;
  draft.order.reflected = reflected;
  auto* const first = draft.order.dimensions.data();
  double least = std::numeric_limits<double>::infinity();
  std::sort(first, first + draft.order.loops);
  do {
    for (std::size_t marks = 0; marks < std::size_t{1} << (3 * draft.order.loops); ++marks) {
      for (std::size_t depth = 1; depth <= draft.order.loops; ++depth) {
        draft.order.marks[depth] = static_cast<std::uint8_t>(marks >> (3 * (depth - 1)) & 7U);
      }
      least = std::min(least, price(draft));
    }
  } while (std::next_permutation(first, first + draft.order.loops));
  return least;
}

TEST(NestBeam, wide_enough_finds_nests_within_a_percent_of_the_cheapest_of_all) {
  for (const Gemm& gemm : {Gemm{2, 2, 2}, Gemm{4, 2, 3}, Gemm{2, 1, 8}, Gemm{1, 9, 5}}) {
    for (const bool through : {false, true}) {
      for (const bool reflected : {false, true}) {
        const BeamFound found = search_nest_beam(gemm, {100000, unlimited, through, reflected});
        EXPECT_TRUE(found.saturated);
        const double least = cheapest(gemm, through, reflected);
        EXPECT_GE(found.steps, least * (1 - 1e-12));
        EXPECT_LE(found.steps, least * 1.01) << to_string(found.drafts.front().nest());
      }
    }
  }
}

TEST(NestBeam, says_what_its_nests_cost_cheapest_first) {
  for (const Gemm& gemm : {Gemm{24, 60, 35}, Gemm{101, 13, 1}, Gemm{1, 1, 1}, Gemm{97, 89, 83}}) {
    for (const std::size_t width : {1U, 3U, 20U}) {
      const BeamFound found = search_nest_beam(gemm, {width, unlimited});
      ASSERT_FALSE(found.drafts.empty());
      EXPECT_LE(found.drafts.size(), std::min<std::size_t>(width, 8));
      EXPECT_EQ(price(found.drafts.front()), found.steps);
      double before = 0;
      for (const NestDraft& draft : found.drafts) {
        EXPECT_NO_THROW(parse_nest(to_string(draft.nest()), "nest", gemm));
        EXPECT_GE(price(draft), before);
        before = price(draft);
      }
    }
  }
}

TEST(NestBeam, finds_sixteen_cubed_in_a_beam_of_eight) {
  EXPECT_NEAR(search_nest_beam({16, 16, 16}, {8, unlimited}).steps, 69656, 0.5);
}

TEST(NestBeam, gives_up_where_it_may_not_go_on) {
  const Gemm gemm{64, 64, 64};
  const BeamFound all = search_nest_beam(gemm, {4, unlimited});
  EXPECT_EQ(search_nest_beam(gemm, {4, all.evaluations}).steps, all.steps);
  EXPECT_TRUE(search_nest_beam(gemm, {4, all.evaluations - 1}).drafts.empty());
  Stop stop;
  stop.request();
  EXPECT_TRUE(search_nest_beam(gemm, {4, unlimited, true, true, &stop}).drafts.empty());
}

}  // namespace
}  // namespace joulegrid
