#pragma once

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// The radii whose levels are tried together with radius 0 in Theorem 3; the gain is largest among the smallest ones.
inline constexpr std::uint64_t first_joint_radius = 2;
inline constexpr std::uint64_t last_joint_radius = 7;

/// a − b, or 0 where that is negative.
constexpr Wide excess(Wide a, Wide b) { return a > b ? a - b : 0; }

}  // namespace joulegrid
