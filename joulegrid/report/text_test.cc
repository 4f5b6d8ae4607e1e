#include "joulegrid/report/text.h"

#include <gtest/gtest.h>

namespace joulegrid {
namespace {

TEST(Text, si_chooses_the_prefix_after_rounding) {
  EXPECT_EQ(si(0.118953083721334, "J"), "119.0 mJ");
  EXPECT_EQ(si(0.118953083721334, "J", 6), "118.953 mJ");
  EXPECT_EQ(si(999.96, "J"), "1.000 kJ");
  EXPECT_EQ(si(999.94, "J"), "999.9 J");
  EXPECT_EQ(si(9.9996, "J"), "10.00 J");
  EXPECT_EQ(si(99.996, "J"), "100.0 J");
  EXPECT_EQ(si(1e-15, "J"), "1.000 fJ");
  EXPECT_EQ(si(1.25, ""), "1.250");
  EXPECT_EQ(si(549755813888.0, ""), "549.8 G");
  EXPECT_EQ(si(0.0, "J"), "0.000 J");
  EXPECT_EQ(si(1e33, "J"), "1000 QJ");
  EXPECT_EQ(si(0.9999996, "s", 3), "1.00 s");
}

TEST(Text, counts_are_exact_below_a_million) {
  EXPECT_EQ(si(Wide{999999}, ""), "999,999");
  EXPECT_EQ(si(Wide{1000000}, ""), "1.000 M");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(118953083721334), "118,953,083,721,334");
}

TEST(Text, widths_count_characters_not_bytes_or_escapes) {
  EXPECT_EQ(display_width("µ → ×"), 5U);
  EXPECT_EQ(display_width(TextStyle{true}.bold("µJ")), 2U);
  EXPECT_EQ(TextStyle{false}.bold("µJ"), "µJ");
  EXPECT_EQ(shortened("a→b", 3), "a→b");
  EXPECT_EQ(shortened("a→bc", 3), "a→…");
}

TEST(Text, bars_are_as_long_as_their_share) {
  EXPECT_EQ(bar(GridSteps(1), GridSteps(1), 3), "███");
  EXPECT_EQ(bar(GridSteps(1), GridSteps(2), 3), "█▌");
  EXPECT_EQ(bar(GridSteps(0), GridSteps(2), 3), "");
  EXPECT_EQ(percent(GridSteps(1), GridSteps(8)), "12.5 %");
}

TEST(Text, shortest_digits_give_the_double_back) {
  EXPECT_EQ(shortest(1e-15), "1e-15");
  EXPECT_EQ(shortest(1.25), "1.25");
}

TEST(Text, wraps_at_blanks) {
  EXPECT_EQ(wrapped("", "head", 2), "head\n");
  const std::string word(60, 'x');
  EXPECT_EQ(wrapped(word + " a " + word + " b", "- ", 4), "- " + word + " a\n    " + word + " b\n");
  EXPECT_EQ(wrapped(word + word + " a", "- ", 4), "- " + word + word + "\n    a\n");
}

}  // namespace
}  // namespace joulegrid
