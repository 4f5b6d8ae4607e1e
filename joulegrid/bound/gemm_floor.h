#pragma once

#include "joulegrid/bound/floor.h"

namespace joulegrid {

/// The floor of one matrix product: Propositions 1 and 2, Theorems 1 and 3 of docs/floor.md. Throws Error(overflow).
Floor gemm_floor(const Gemm& gemm);

}  // namespace joulegrid
