#include "joulegrid/grid/distance.h"

#include <gtest/gtest.h>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

constexpr Wide one = 1;

TEST(Distance, is_the_ceiling_of_the_root_around_every_perfect_square) {
  EXPECT_EQ(distance(1), Wide{1});
  for (Wide r = 2; r < (one << 63); r = r * 3 / 2 + 1) {
    EXPECT_EQ(distance(r * r), r) << to_string(r);
    EXPECT_EQ(distance(r * r + 1), r + 1) << to_string(r);
    EXPECT_EQ(distance(r * r - 1), r) << to_string(r);
    EXPECT_EQ(isqrt(r * r - 1), r - 1) << to_string(r);
    EXPECT_EQ(isqrt(r * r), r) << to_string(r);
  }
}

TEST(Distance, isqrt_is_exact_where_doubles_end) {
  for (Wide r = (one << 26) - 70; r < (one << 26) + 70; ++r) {
    EXPECT_EQ(isqrt(r * r), r);
    EXPECT_EQ(isqrt(r * r - 1), r - 1);
  }
  const Wide largest = ~static_cast<Wide>(0);
  EXPECT_EQ(isqrt(largest), (one << 64) - 1);
  EXPECT_EQ(isqrt(((one << 64) - 1) * ((one << 64) - 1)), (one << 64) - 1);
  EXPECT_EQ(isqrt(((one << 64) - 1) * ((one << 64) - 1) - 1), (one << 64) - 2);
}

TEST(Distance, sum_adds_up_address_by_address) {
  Wide sum = 0;
  EXPECT_EQ(distance_sum(0), Wide{0});
  for (Wide a = 1; a <= 20000; ++a) {
    Wide d = 0;
    while (d * d < a) ++d;
    sum += d;
    ASSERT_EQ(distance_sum(a), sum) << to_string(a);
  }
}

TEST(Distance, sum_grows_by_the_distance_at_any_magnitude) {
  for (Wide n = 1; n < (one << 84); n = n * 5 / 3 + 7) {
    EXPECT_EQ(distance_sum(n) - distance_sum(n - 1), distance(n)) << to_string(n);
  }
}

TEST(Distance, sum_is_exact_up_to_128_bits_and_an_error_past_them) {
  EXPECT_EQ(distance_sum(one << 85), parse_wide("160410646112022350509803014978641620457", "P"));
  // The largest n whose sum fits, by bisection; the next distance would wrap.
  Wide fits = one << 85;
  Wide wraps = one << 90;
  const auto sums = [](Wide n) {
    try {
      (void)distance_sum(n);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  while (wraps - fits > 1) (sums(fits + (wraps - fits) / 2) ? fits : wraps) = fits + (wraps - fits) / 2;
  EXPECT_LT(~distance_sum(fits), distance(fits + 1));
}

}  // namespace
}  // namespace joulegrid
