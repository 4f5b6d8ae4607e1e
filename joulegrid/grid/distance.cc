#include "joulegrid/grid/distance.h"

#include <cmath>

namespace joulegrid {

namespace {

constexpr Wide one = 1;

/// Below 2^52 a double holds n exactly, and its correctly rounded root never reaches the next integer: the root of
/// k² - 1 is further below k than half a unit in the last place.
constexpr Wide exact_in_double = one << 52;

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
  // Of the factors of 3·rings one is a multiple of 3 (the second where r ≡ 1 modulo 3); divided first, nothing larger than
  // the result appears.
  const Wide rings = triangle % 3 == 0 ? checked_mul(triangle / 3, 4 * r - 1) : checked_mul(triangle, (4 * r - 1) / 3);
  return checked_add(rings, checked_mul(n - r * r, r + 1));
}

}  // namespace joulegrid
