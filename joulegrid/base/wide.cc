#include "joulegrid/base/wide.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

int bit_width(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

void throw_overflow() {
  throw Error(ErrorCode::overflow, "a count of this problem does not fit 128 bits; the result cannot be represented exactly");
}

std::string to_string(Wide value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide parse_wide(std::string_view text, std::string_view what) {
  if (text.empty()) throw Error(ErrorCode::bad_input, "expected a whole number, found nothing", std::string(what));
  Wide value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9')
      throw Error(ErrorCode::bad_input, "expected a whole number, found " + in_quotes(text), std::string(what));
    Wide next = 0;
    if (__builtin_mul_overflow(value, static_cast<Wide>(10), &next) ||
        __builtin_add_overflow(next, static_cast<Wide>(c - '0'), &value)) {
      throw Error(ErrorCode::bad_input, in_quotes(text) + " does not fit 128 bits", std::string(what));
    }
  }
  return value;
}

std::uint64_t parse_size(std::string_view text, std::string_view what) {
  const bool only_digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  constexpr std::size_t most_digits = 15;  // of max_size
  const std::size_t first = only_digits ? std::min(text.find_first_not_of('0'), text.size()) : 0;
  const bool short_enough = text.size() - first <= most_digits;
  const Wide value = only_digits && short_enough ? parse_wide(text, what) : 0;
  if (value == 0 || value > max_size) {
    throw Error(ErrorCode::bad_input, "expected a whole number from 1 to " + to_string(max_size) + ", found " + in_quotes(text),
                std::string(what));
  }
  return static_cast<std::uint64_t>(value);
}

double rounded_quotient(Wide n, Wide d) {
  check(d != 0, "rounded_quotient by zero");
  if (n == 0) return 0.0;
  // Long division until the quotient has 55 bits or more; whatever is left only matters as "not zero" (a sticky bit),
  // so that the one rounding, from 64 bits to a double, is the correct one.
  Wide quotient = n / d;
  Wide remainder = n % d;
  int exponent = 0;
  while (bit_width(quotient) < 55) {
    const bool carry = (remainder >> 127) != 0;
    remainder <<= 1;
    const bool one = carry || remainder >= d;
    if (one) remainder -= d;
    quotient = quotient << 1 | static_cast<Wide>(one);
    --exponent;
  }
  const int excess = std::max(0, bit_width(quotient) - 62);
  const bool dropped = (quotient & ((static_cast<Wide>(1) << excess) - 1)) != 0 || remainder != 0;
  auto mantissa = static_cast<std::uint64_t>(quotient >> excess) << 1;
  mantissa |= static_cast<std::uint64_t>(dropped);
  return std::ldexp(static_cast<double>(mantissa), exponent + excess - 1);
}

}  // namespace joulegrid
