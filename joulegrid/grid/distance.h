#pragma once

#include <cmath>

#include "joulegrid/base/wide.h"

namespace joulegrid {

namespace detail {
Wide wide_distance_sum(Wide n);
}  // namespace detail

/// floor(sqrt(n)), exactly.
Wide isqrt(Wide n);

/// d(a) = ceil(sqrt(a)): how many grid steps memory cell `address` (1, 2, 3, …) is from the processor.
/// Source: W. J. Dally, "On the Model of Computation", CACM 65(9), 2022, simplified; docs/movement-model.md.
Wide distance(Wide address);

/// P(n): the sum of d(a) over a = 1..n, in grid steps. Throws Error(overflow) where it does not fit 128 bits.
///
/// P(n) = r(r+1)(4r−1)/6 + (n − r²)(r+1) with r = isqrt(n): whole rings (ring d holds 2d − 1 cells), then the begun one.
inline Wide distance_sum(Wide n) {
  constexpr int fits = 40;  // bits of n with which everything below stays within 64
  if ((n >> fits) != 0) return detail::wide_distance_sum(n);
  const auto cells = static_cast<std::uint64_t>(n);
  const auto r = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(cells)));  // exact, see isqrt
  constexpr std::uint64_t inverse_of_3 = ~std::uint64_t{0} / 3 * 2 + 1;              // modulo 2^64; the division is exact
  return r * (r + 1) / 2 * (4 * r - 1) * inverse_of_3 + (cells - r * r) * (r + 1);
}

}  // namespace joulegrid
