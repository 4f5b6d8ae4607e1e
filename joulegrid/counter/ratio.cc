#include "joulegrid/counter/ratio.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace joulegrid {

namespace {

/// value · factor where it fits.
bool multiply(Wide& value, Wide factor) { return !__builtin_mul_overflow(value, factor, &value); }

Ratio reduced(Wide numerator, Wide denominator) {
  Wide a = numerator;
  Wide b = denominator;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return {numerator / a, denominator / a};
}

}  // namespace

std::optional<Ratio> parse_ratio(std::string_view text, int shift) {
  constexpr int most_exponent = 60;
  int exponent = shift;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    int written = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), written);
    if (error != std::errc() || end != digits.data() + digits.size() || std::abs(written) > most_exponent) return std::nullopt;
    exponent += written;
    text = text.substr(0, e);
  }
  Wide mantissa = 0;
  bool point = false;
  bool any = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (!multiply(mantissa, 10) || __builtin_add_overflow(mantissa, static_cast<Wide>(c - '0'), &mantissa)) return std::nullopt;
    if (point) --exponent;
  }
  if (!any || mantissa == 0) return std::nullopt;
  // Tens meet their twos and fives in the other part at once, so that 2^-32 with all its digits fits.
  Ratio ratio{mantissa, 1};
  for (; exponent > 0; --exponent) {
    if (!multiply(ratio.numerator, 10)) return std::nullopt;
  }
  for (; exponent < 0; ++exponent) {
    Wide ten = 10;
    for (const Wide prime : {Wide{2}, Wide{5}}) {
      if (ratio.numerator % prime == 0) {
        ratio.numerator /= prime;
        ten /= prime;
      }
    }
    if (!multiply(ratio.denominator, ten)) return std::nullopt;
  }
  return reduced(ratio.numerator, ratio.denominator);
}

std::optional<Ratio> ratio_of(float value) {
  if (!std::isfinite(value) || !(value > 0)) return std::nullopt;
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) return std::nullopt;
  return parse_ratio({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

std::optional<Microjoules> scaled(std::uint64_t count, const Ratio& unit) {
  Wide product = count;
  if (!multiply(product, unit.numerator)) return std::nullopt;
  return Microjoules(product / unit.denominator);
}

}  // namespace joulegrid
