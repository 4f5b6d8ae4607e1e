#pragma once

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// floor(cbrt(n)), exactly.
Wide icbrt(Wide n);

/// ceil(cbrt(n)), exactly.
Wide icbrt_up(Wide n);

/// ceil(sqrt(n)), exactly.
Wide isqrt_up(Wide n);

}  // namespace joulegrid
