#include "joulegrid/schedule/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/schedule/literal_nest.h"

namespace joulegrid {
namespace {

using ::testing::StartsWith;

const Gemm gemm{16, 16, 16};

std::string error_of(std::string_view text) {
  try {
    parse_nest(text, "nest", gemm);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(Nest, reads_loops_marks_and_variants) {
  const Nest nest = parse_nest("reflected m2 n4 [C] k16 [B][A] m8 [A] n4", "nest", gemm);
  EXPECT_EQ(nest.loops[2], (Loop{Dimension::k, 16}));
  EXPECT_EQ(nest.marks, (std::vector<Mark>{{2, Operand::c}, {3, Operand::a}, {3, Operand::b}, {4, Operand::a}}));
  EXPECT_FALSE(nest.through);
  EXPECT_TRUE(nest.reflected);
  EXPECT_EQ(nest.depths(Operand::a), (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(to_string(nest), "reflected m2 n4 [C] k16 [AB] m8 [A] n4");
  EXPECT_EQ(parse_nest("  reflected   through m1[BA]  ", "nest"), parse_nest("through reflected m1 [AB]", "nest"));
}

TEST(Nest, reads_back_what_it_printed) {
  const std::uint64_t seed = 20;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    const test::RandomNest r = test::random_nest(random, round % 2 == 0, 1000);
    ASSERT_EQ(parse_nest(to_string(r.nest), "nest", r.gemm), r.nest) << to_string(r.nest);
  }
}

TEST(Nest, any_text_is_a_nest_that_prints_back_or_an_error_within_it) {
  const std::uint64_t seed = 28;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::string alphabet = "mnkABC[]0123456789 xthroughreflected\t\xc3";
  int nests = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = "through reflected m2 n4 [C] k16 [AB] m8 [A] n4";
    for (std::uint64_t edits = random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) text.erase(at, random() % 8);
      text.insert(std::min(at, text.size()), 1, alphabet[random() % alphabet.size()]);
    }
    try {
      const Nest nest = parse_nest(text, "nest");
      ASSERT_EQ(parse_nest(to_string(nest), "nest"), nest) << text;
      ++nests;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::bad_input);
      const std::string where = std::string(error.what()).substr(std::string("nest, column ").size());
      ASSERT_LE(std::stoul(where), text.size() + 1) << text << ": " << error.what();
    }
  }
  EXPECT_GT(nests, 2000);
  EXPECT_LT(nests, 18000);
}

TEST(Nest, points_at_the_column_of_every_mistake) {
  EXPECT_THAT(error_of(""), StartsWith("nest, column 1: expected a loop like m8, found nothing"));
  EXPECT_THAT(error_of("through"), StartsWith("nest, column 8: expected a loop"));
  EXPECT_THAT(error_of("m16 x4 k16 n16"), StartsWith("nest, column 5: expected a loop like m8, n8 or k8"));
  EXPECT_THAT(error_of("M16 k16 n16"), StartsWith("nest, column 1: expected a loop"));
  EXPECT_THAT(error_of("m16 through k16 n16"), StartsWith("nest, column 5: expected a loop"));
  EXPECT_THAT(error_of("through through m16"), StartsWith("nest, column 9: this word is given twice"));
  EXPECT_THAT(error_of("m16 k k16"), StartsWith("nest, column 5: expected a trip count"));
  EXPECT_THAT(error_of("m16 k0 n16"), StartsWith("nest, column 5: expected a trip count from 1"));
  EXPECT_THAT(error_of("m16 k999999999999999999999 n16"), StartsWith("nest, column 5: expected a trip count from 1"));
  EXPECT_THAT(error_of("m16 k281474976710656 k2"), StartsWith("nest, column 22: the trips of k multiply to more"));
  EXPECT_THAT(error_of("m16 k-4"), StartsWith("nest, column 5: expected a trip count"));
  EXPECT_THAT(error_of("m16 k16 n16!"), StartsWith("nest, column 9: expected a trip count"));
  EXPECT_THAT(error_of("m16 k16 n16 !"), StartsWith("nest, column 13: expected a loop"));
  EXPECT_THAT(error_of("m16,k16"), StartsWith("nest, column 1: expected a trip count"));
  EXPECT_THAT(error_of("m16 [D] k16 n16"), StartsWith("nest, column 6: expected an operand A, B or C, found 'D'"));
  EXPECT_THAT(error_of("m16 [Aé] k16 n16"), StartsWith("nest, column 7: expected an operand A, B or C, found 'é'"));
  EXPECT_THAT(error_of("m16 [] k16 n16"), StartsWith("nest, column 6: expected an operand"));
  EXPECT_THAT(error_of("m16 [A k16 n16"), StartsWith("nest, column 5: this mark is not closed"));
  EXPECT_THAT(error_of("[A] m16 k16 n16"), StartsWith("nest, column 2: a mark before the first loop"));
  EXPECT_THAT(error_of("m16 [AA] k16 n16"), StartsWith("nest, column 7: the same mark A is given twice"));
  EXPECT_THAT(error_of("m16 [A] [A] k16 n16"), StartsWith("nest, column 10: the same mark A is given twice"));
  EXPECT_THAT(error_of("m2 k16 m4 n16"),
              StartsWith("nest, column 8: the trips of m multiply to 8 and do not cover its size, 16"));
  EXPECT_THAT(error_of("m16 k16"), StartsWith("nest, column 8: the trips of n multiply to 1"));
  std::string many;
  for (std::size_t i = 0; i <= max_loops; ++i) many += "m1 ";
  EXPECT_THAT(error_of(many), StartsWith("nest, column 769: more than 256 loops"));
  EXPECT_EQ(error_of("m17 k16 n30"), "no error");
}

}  // namespace
}  // namespace joulegrid
