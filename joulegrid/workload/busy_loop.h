#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "joulegrid/measure/stage.h"

namespace joulegrid {

/// Additions and multiplications in registers, each waiting for the one before it, of one repetition on every thread.
inline constexpr std::uint64_t busy_loop_operations = std::uint64_t{1} << 20U;

/// A stage that keeps so many threads busy without touching memory: for trying out a machine's counter. Threads > 0.
std::unique_ptr<Stage> make_busy_loop(std::string name, unsigned threads);

}  // namespace joulegrid
