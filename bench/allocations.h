#pragma once

#include <cstddef>

namespace joulegrid::bench {

/// How often the program has asked for memory on the heap.
std::size_t allocations();

}  // namespace joulegrid::bench
