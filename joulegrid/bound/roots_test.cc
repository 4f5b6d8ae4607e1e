#include "joulegrid/bound/roots.h"

#include <gtest/gtest.h>

namespace joulegrid {
namespace {

constexpr Wide one = 1;

TEST(Roots, are_exact_around_every_cube_and_square) {
  for (Wide r = 1; r < (one << 42); r = r * 4 / 3 + 1) {
    EXPECT_EQ(icbrt(r * r * r), r) << to_string(r);
    EXPECT_EQ(icbrt_up(r * r * r), r) << to_string(r);
    EXPECT_EQ(icbrt(r * r * r - 1), r - 1) << to_string(r);
    EXPECT_EQ(icbrt_up(r * r * r + 1), r + 1) << to_string(r);
    EXPECT_EQ(isqrt_up(r * r), r) << to_string(r);
    EXPECT_EQ(isqrt_up(r * r + 1), r + 1) << to_string(r);
  }
}

TEST(Roots, reach_to_the_end_of_the_integers) {
  EXPECT_EQ(icbrt(0), Wide{0});
  EXPECT_EQ(icbrt_up(0), Wide{0});
  EXPECT_EQ(icbrt(~Wide{0}), Wide{6981463658331});
  EXPECT_EQ(icbrt_up(~Wide{0}), Wide{6981463658332});
}

}  // namespace
}  // namespace joulegrid
