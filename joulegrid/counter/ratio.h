#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "joulegrid/base/quantity.h"

namespace joulegrid {

/// An exact positive fraction in lowest terms.
struct Ratio {
  Wide numerator = 1;
  Wide denominator = 1;

  friend bool operator==(const Ratio&, const Ratio&) = default;
};

/// text · 10^shift as a fraction, where text is decimal digits with or without a point and an exponent: "15.3", "2.3283e-10".
/// Nothing where it is not that, not above zero, or does not fit 128 bits.
std::optional<Ratio> parse_ratio(std::string_view text, int shift = 0);

/// What the library said in binary32, as the shortest decimal digits that give it back: 15.259f is 15259/1000. Nothing where it
/// is not a number above zero.
std::optional<Ratio> ratio_of(float value);

/// floor(count · unit): a difference of two is off by less than one. Nothing where 128 bits do not hold it.
std::optional<Microjoules> scaled(std::uint64_t count, const Ratio& unit);

}  // namespace joulegrid
