#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace joulegrid {

/// The integer of every exact count: 128 bits, unsigned. Sums and products go through the checked functions below.
using Wide = unsigned __int128;

/// The largest size (dimension, example count, batch, tile) that is accepted: 2^48. Two sizes multiply without overflow,
/// and listing the divisors of one takes no noticeable time.
inline constexpr std::uint64_t max_size = std::uint64_t{1} << 48;

/// Throws Error(overflow).
[[noreturn]] void throw_overflow();

/// a + b; throws Error(overflow) where 128 bits do not hold it.
inline Wide checked_add(Wide a, Wide b) {
  Wide sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

/// a - b; throws Error(overflow) where the difference is negative.
inline Wide checked_sub(Wide a, Wide b) {
  if (b > a) throw_overflow();
  return a - b;
}

/// a * b; throws Error(overflow) where 128 bits do not hold it.
inline Wide checked_mul(Wide a, Wide b) {
  const auto a_low = static_cast<std::uint64_t>(a);
  const auto b_low = static_cast<std::uint64_t>(b);
  if (a == a_low && b == b_low) return static_cast<Wide>(a_low) * b_low;  // the usual case, one machine multiplication
  Wide product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

/// ceil(a / b); b > 0.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The decimal digits of `value`.
std::string to_string(Wide value);

/// The value of decimal digits; throws Error(bad_input, where = `what`) for anything but digits, or for a value past 128 bits.
Wide parse_wide(std::string_view text, std::string_view what);

/// A size from 1 to max_size in decimal digits; throws Error(bad_input, where = `what`) for anything else: a sign, a
/// blank, a fraction, trailing characters, zero, a larger number.
std::uint64_t parse_size(std::string_view text, std::string_view what);

/// n / d correctly rounded to the nearest double (ties to even), whatever the sizes of n and d; d > 0.
double rounded_quotient(Wide n, Wide d);

}  // namespace joulegrid
