#include "joulegrid/base/wide.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/base/quantity.h"

namespace joulegrid {
namespace {

constexpr Wide largest = ~static_cast<Wide>(0);

TEST(Wide, prints_and_parses_every_magnitude) {
  EXPECT_EQ(to_string(0), "0");
  EXPECT_EQ(to_string(largest), "340282366920938463463374607431768211455");
  EXPECT_EQ(parse_wide("340282366920938463463374607431768211455", "x"), largest);
  EXPECT_THROW(parse_wide("340282366920938463463374607431768211456", "x"), Error);
  EXPECT_THROW(parse_wide("3402823669209384634633746074317682114550", "x"), Error);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "٣"})
    EXPECT_THROW(parse_wide(bad, "x"), Error) << bad;
}

TEST(Wide, sizes_are_positive_and_bounded) {
  EXPECT_EQ(parse_size("1", "x"), 1U);
  EXPECT_EQ(parse_size("281474976710656", "x"), max_size);
  EXPECT_EQ(parse_size("000000000000000000000012", "x"), 12U);
  for (const char* bad : {"0", "00", "281474976710657", "99999999999999999999999999999999999999999999", "", "7x", "-3"}) {
    EXPECT_THROW(parse_size(bad, "x"), Error) << bad;
  }
}

TEST(Wide, arithmetic_past_128_bits_is_an_error_never_a_wrapped_number) {
  EXPECT_EQ(checked_add(largest - 1, 1), largest);
  EXPECT_THROW(checked_add(largest, 1), Error);
  EXPECT_EQ(checked_mul(largest / 3, 3), largest);
  EXPECT_THROW(checked_mul(largest / 3, 4), Error);
  EXPECT_THROW(checked_mul(static_cast<Wide>(1) << 64, static_cast<Wide>(1) << 64), Error);
  EXPECT_EQ(checked_sub(2, 2), Wide{0});
  EXPECT_THROW(checked_sub(1, 2), Error);
  EXPECT_THROW(GridSteps(largest) + GridSteps(1), Error);
}

mpz_class big(Wide value) { return mpz_class(to_string(value)); }

/// The quotient is correctly rounded when no neighbouring double is closer to the exact one, and a tie went to the even one.
void expect_nearest(Wide n, Wide d) {
  const double q = rounded_quotient(n, d);
  const mpq_class exact(big(n), big(d));
  const mpq_class off = abs(mpq_class(q) - exact);
  for (const double other : {std::nextafter(q, 0.0), std::nextafter(q, std::numeric_limits<double>::infinity())}) {
    const mpq_class other_off = abs(mpq_class(other) - exact);
    EXPECT_LE(off, other_off) << to_string(n) << " / " << to_string(d);
    if (off == other_off) {
      int exponent = 0;
      const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(q, &exponent), 53));
      EXPECT_EQ(mantissa % 2, 0U) << "tie " << to_string(n) << " / " << to_string(d);
    }
  }
}

TEST(Wide, rounded_quotient_is_the_nearest_double) {
  const std::uint64_t seed = 20260902;
  std::mt19937_64 random(seed);
  RecordProperty("seed", std::to_string(seed));
  const auto any = [&] {
    const Wide bits = static_cast<Wide>(random()) << 64 | random();
    return bits >> (random() % 128) | 1;
  };
  for (int i = 0; i < 20000; ++i) expect_nearest(any(), any());
  const Wide two_53 = static_cast<Wide>(1) << 53;
  for (Wide n = two_53 - 3; n < two_53 + 9; ++n) expect_nearest(n, 1);  // ties to even just past 2^53
  for (Wide n = 2 * two_53 - 9; n < 2 * two_53 + 9; ++n) expect_nearest(n, 2);
  expect_nearest(largest, 1);
  expect_nearest(1, largest);
  expect_nearest(largest, largest);
  EXPECT_EQ(rounded_quotient(0, 7), 0.0);
  EXPECT_EQ(rounded_quotient(133502855653573, 1000000000000000), 0.133502855653573);
}

}  // namespace
}  // namespace joulegrid
