#pragma once

#include <string>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// Bytes that can be allocated without swapping: what the kernel calls available, or less where a control group allows less.
/// Where neither is known, the largest number.
Wide available_memory();

/// Throws Error(unavailable) where `bytes` are more than that; `what` needs them: "--size: a product of this size".
void require_memory(Wide bytes, const std::string& what);

}  // namespace joulegrid
