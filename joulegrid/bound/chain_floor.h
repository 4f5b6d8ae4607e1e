#pragma once

#include "joulegrid/bound/floor.h"

namespace joulegrid {

/// The floor of an epoch of at least two layers: Propositions 1 and 2, Theorems 2 and 3 of docs/floor.md. Throws
/// Error(overflow).
Floor chain_floor(const Epoch& epoch);

}  // namespace joulegrid
