#pragma once

#include <cstdint>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// The generator SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): the same numbers for a
/// seed on every machine.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
    return z ^ (z >> 31U);
  }

  /// Leaves out so many numbers.
  void skip(std::uint64_t count) { state_ += count * 0x9E37'79B9'7F4A'7C15U; }

  /// Less than `bound` > 0, by the high half of a product: uneven by less than bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64U); }

  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace joulegrid
