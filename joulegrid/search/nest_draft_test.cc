#include "joulegrid/search/nest_draft.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/schedule/literal_nest.h"

namespace joulegrid {
namespace {

/// The nest with what a draft leaves out written by hand.
std::string through_draft(const std::string& nest, const Gemm& gemm) {
  return to_string(NestDraft::of(gemm, parse_nest(nest, "nest", gemm)).nest());
}

TEST(NestDraft, holds_a_nest) {
  const Gemm gemm{16, 16, 16};
  for (const char* nest :
       {"m2 n4 [C] k16 [B] m8 [A] n4", "through reflected n2 n2 k2 k2 k2 [C] m2 m2 m2 m2 [B] n2 n2 [A] k2 [C]"}) {
    EXPECT_EQ(through_draft(nest, gemm), nest);
  }
}

TEST(NestDraft, leaves_out_loops_that_do_nothing) {
  EXPECT_EQ(through_draft("m1 [A] m2 n1 [B] n3 k1 [C]", {2, 1, 3}), "m2 [B] n3 [C]");
  EXPECT_EQ(through_draft("m2 [A] m4 k3", {3, 3, 1}), "m3 k3");        // the outer loop has one block only
  EXPECT_EQ(through_draft("m9 m4 k3 n2", {13, 3, 2}), "m4 m4 k3 n2");  // fewer trips cover it
  EXPECT_EQ(through_draft("m1 n1 k1", {1, 1, 1}), "m1");
}

TEST(NestDraft, refuses_more_loops_than_it_holds) {
  std::string nest = "n2";
  for (int i = 0; i < 49; ++i) nest += " m2";
  const Nest parsed = parse_nest(nest.substr(0, 2 + 3 * 48), "nest");
  EXPECT_NO_THROW(NestDraft::of({1, 1, 1}, parsed));
  Nest more = parsed;
  more.loops.push_back({Dimension::m, 2});
  EXPECT_THROW(NestDraft::of({1, 1, 1}, more), Error);
}

TEST(NestDraft, begins_with_nests_that_cover_any_size) {
  const std::uint64_t seed = 43;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const auto size = [&] { return std::min(random() >> (random() % 63), max_size - 1) + 1; };
    const Gemm gemm{size(), size(), size()};
    for (const NestDraft& draft : {NestDraft::of_small_factors(gemm), NestDraft::of_halves(gemm)}) {
      const std::string nest = to_string(draft.nest());
      SCOPED_TRACE(nest);
      EXPECT_NO_THROW(parse_nest(nest, "nest", gemm));
      for (const Dimension dimension : all_dimensions) {
        const Cuts& cuts = draft.of(dimension);
        EXPECT_EQ(cuts.size, size_of(gemm, dimension));
        EXPECT_EQ(cuts.blocks[0], 1);
        EXPECT_EQ(cuts.blocks[cuts.loops], static_cast<double>(cuts.size));
        EXPECT_EQ(cuts.whole[cuts.loops], 1);
      }
    }
  }
  EXPECT_EQ(to_string(NestDraft::of_small_factors({12, 1, 10}).nest()), "through reflected m2 m2 m3 n2 n5");
  EXPECT_EQ(to_string(NestDraft::of_halves({12, 1, 2}).nest()), "through reflected m2 m2 m2 m2 n2");
}

TEST(LoopOrder, inserts_and_erases_loops_and_keeps_the_marks_of_the_others) {
  const Gemm gemm{4, 1, 4};
  NestDraft draft = NestDraft::of(gemm, parse_nest("m2 [A] m2 [B] n4 [C]", "nest", gemm));
  draft.order.insert(1, Dimension::n);
  Cuts& n = draft.of(Dimension::n);
  n.trips = {2, 2};
  n.loops = 2;
  draft.fit(Dimension::n);
  EXPECT_EQ(to_string(draft.nest()), "m2 [A] n2 m2 [B] n2 [C]");
  draft.order.erase(2);
  draft.of(Dimension::m).loops = 1;
  draft.of(Dimension::m).trips[0] = 4;
  draft.fit(Dimension::m);
  EXPECT_EQ(to_string(draft.nest()), "m4 [A] n2 [B] n2 [C]");
  draft.order.erase(0);
  draft.of(Dimension::m) = {};
  draft.fit(Dimension::m);
  EXPECT_EQ(to_string(draft.nest()), "n2 [B] n2 [C]");
}

}  // namespace
}  // namespace joulegrid
