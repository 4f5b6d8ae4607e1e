#pragma once

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// floor(sqrt(n)), exactly.
Wide isqrt(Wide n);

/// d(a) = ceil(sqrt(a)): how many grid steps memory cell `address` (1, 2, 3, …) is from the processor.
/// Source: W. J. Dally, "On the Model of Computation", CACM 65(9), 2022, simplified; docs/movement-model.md.
Wide distance(Wide address);

/// P(n): the sum of d(a) over a = 1..n, in grid steps. Throws Error(overflow) where it does not fit 128 bits.
Wide distance_sum(Wide n);

}  // namespace joulegrid
