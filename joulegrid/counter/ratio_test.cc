#include "joulegrid/counter/ratio.h"

#include <gtest/gtest.h>

#include <limits>

namespace joulegrid {
namespace {

TEST(Ratio, decimals_are_exact_and_in_lowest_terms) {
  EXPECT_EQ(parse_ratio("15.3"), (Ratio{153, 10}));
  EXPECT_EQ(parse_ratio("15.50"), (Ratio{31, 2}));
  EXPECT_EQ(parse_ratio("3"), (Ratio{3, 1}));
  EXPECT_EQ(parse_ratio(".5"), (Ratio{1, 2}));
  EXPECT_EQ(parse_ratio("1e3"), (Ratio{1000, 1}));
  EXPECT_EQ(parse_ratio("1E+3"), (Ratio{1000, 1}));
  EXPECT_EQ(parse_ratio("25e-3"), (Ratio{1, 40}));
  EXPECT_EQ(parse_ratio("25e-3", 3), (Ratio{25, 1}));
  EXPECT_EQ(parse_ratio("2.3283064365386962890625e-10"), (Ratio{1, Wide{1} << 32U}));
  EXPECT_EQ(parse_ratio("2.3283064365386962890625e-10", 6), (Ratio{15625, 67108864}));
}

TEST(Ratio, what_is_no_positive_number_is_none) {
  for (const char* text : {"", ".", "0", "0.0", "-1", "+1", "1e", "e3", "1e99", "1e-99", "1.2.3", "1 ", "0x1", "nan", "inf",
                           "1e50", "1000000000000000000000000000000000000000"}) {
    EXPECT_EQ(parse_ratio(text), std::nullopt) << text;
  }
}

TEST(Ratio, of_binary32_is_the_shortest_decimal) {
  EXPECT_EQ(ratio_of(15.259F), (Ratio{15259, 1000}));
  EXPECT_EQ(ratio_of(15.3F), (Ratio{153, 10}));
  EXPECT_EQ(ratio_of(1.0F), (Ratio{1, 1}));
  EXPECT_EQ(ratio_of(0.0F), std::nullopt);
  EXPECT_EQ(ratio_of(-1.0F), std::nullopt);
  EXPECT_EQ(ratio_of(std::numeric_limits<float>::infinity()), std::nullopt);
  EXPECT_EQ(ratio_of(std::numeric_limits<float>::quiet_NaN()), std::nullopt);
}

TEST(Ratio, scaling_cuts_and_never_overflows) {
  EXPECT_EQ(scaled(3, {15259, 1000}), Microjoules(45));
  EXPECT_EQ(scaled(0, {15259, 1000}), Microjoules(0));
  EXPECT_EQ(scaled(2, {Wide{1} << 127U, 1}), std::nullopt);
  EXPECT_EQ(scaled(1, {Wide{1} << 127U, Wide{1} << 126U}), Microjoules(2));
}

}  // namespace
}  // namespace joulegrid
