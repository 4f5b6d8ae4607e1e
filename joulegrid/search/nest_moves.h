#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "joulegrid/search/nest_draft.h"

namespace joulegrid {

/// The source of a search's random choices; the same sequence for the same seed on every machine.
class Random {
 public:
  /// One of many independent sequences of the same seed.
  Random(std::uint64_t seed, std::uint64_t sequence);

  /// Uniform in 0 to bound - 1; bound from 1 to 2^32.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(((engine_() >> 32) * bound) >> 32); }

  /// Exponentially distributed with mean 1, in 1024 steps.
  double exponential();

 private:
  std::mt19937_64 engine_;
};

/// Puts all loops into a random order and sets random marks.
void shuffle(NestDraft& draft, Random& random);

/// A random small change: another order of the loops, a mark set, taken away or moved, other trips, another variant. Says
/// whether the cuts changed; if not, only the order did.
bool change(NestDraft& draft, Random& random);

}  // namespace joulegrid
