#include "joulegrid/grid/distance.h"

#include <cmath>

namespace joulegrid {

namespace {

constexpr Wide one = 1;

/// Below 2^52 a double holds n exactly, and its correctly rounded root never reaches the next integer: the root of
/// k² - 1 is further below k than half a unit in the last place.
constexpr Wide exact_in_double = one << 52;

/// The inverse of 3 modulo 2^128: multiplying a multiple of 3 by it divides by 3.
constexpr Wide inverse_of_3 = ~static_cast<Wide>(0) / 3 * 2 + 1;
static_assert(inverse_of_3 * 3 == 1);

}  // namespace

Wide isqrt(Wide n) {
  if (n < exact_in_double) return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(static_cast<std::uint64_t>(n))));
  // Newton's iteration from above: it falls strictly until it reaches the root.
  auto root = static_cast<Wide>(std::sqrt(static_cast<double>(n))) + (one << 12);
  root += root >> 50;
  for (;;) {
    const Wide next = (root + n / root) >> 1;
    if (next >= root) return root;
    root = next;
  }
}

Wide distance(Wide address) {
  const Wide root = isqrt(address);
  return root * root == address ? root : root + 1;
}

Wide detail::wide_distance_sum(Wide n) {
  const Wide r = isqrt(n);
  const Wide triangle = r * (r + 1) / 2;  // r < 2^64, so this fits
  const Wide rings = r == 0 ? 0 : checked_mul(triangle, 4 * r - 1) * inverse_of_3;
  return checked_add(rings, checked_mul(n - r * r, r + 1));
}

}  // namespace joulegrid
