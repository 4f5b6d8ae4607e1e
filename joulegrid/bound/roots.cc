#include "joulegrid/bound/roots.h"

#include <cmath>

#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

/// The largest number whose cube fits 128 bits.
constexpr Wide largest_root = 6981463658331;
static_assert(largest_root * largest_root <= ~static_cast<Wide>(0) / largest_root);
static_assert((largest_root + 1) * (largest_root + 1) > ~static_cast<Wide>(0) / (largest_root + 1));

bool cube_exceeds(Wide root, Wide n) { return root > largest_root || root * root * root > n; }

}  // namespace

Wide icbrt(Wide n) {
  // The floating-point root is off by less than one; whole numbers decide.
  auto root = static_cast<Wide>(std::cbrt(static_cast<double>(n)));
  while (cube_exceeds(root, n)) --root;
  while (!cube_exceeds(root + 1, n)) ++root;
  return root;
}

Wide icbrt_up(Wide n) {
  const Wide root = icbrt(n);
  return root * root * root == n ? root : root + 1;
}

Wide isqrt_up(Wide n) {
  const Wide root = isqrt(n);
  return root * root == n ? root : root + 1;
}

}  // namespace joulegrid
