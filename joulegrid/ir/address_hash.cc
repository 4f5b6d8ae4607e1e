#include "joulegrid/ir/address_hash.h"

#include <random>

namespace joulegrid::ir {

std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device random;
    return static_cast<std::uint64_t>(random()) << 32 | random();
  }();
  return seed;
}

}  // namespace joulegrid::ir
