#include "joulegrid/search/tile_sizes.h"

#include <algorithm>

#include "joulegrid/base/wide.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

std::vector<std::uint64_t> divisors_of(std::uint64_t n) {
  std::vector<std::uint64_t> divisors;
  for (std::uint64_t d = 1; d * d <= n; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  for (std::size_t i = divisors.size(); i-- > 0;) {
    if (divisors[i] * divisors[i] != n) divisors.push_back(n / divisors[i]);
  }
  return divisors;
}

}  // namespace

TileSizes::TileSizes(std::uint64_t dimension, Candidates candidates) : dimension_(dimension) {
  if (candidates == Candidates::divisors) {
    divisors_ = divisors_of(dimension);
    return;
  }
  // Sizes v with v(v-1) <= n all give different counts ceil(n/v); every larger size that matters is ceil(n/c) for a count c
  // below n/consecutive_, and these are distinct too, since such a c is at most consecutive_.
  consecutive_ = static_cast<std::uint64_t>(isqrt(dimension));
  if (consecutive_ * (consecutive_ + 1) <= dimension) ++consecutive_;
  few_tiles_ = ceil_div(dimension, consecutive_) - 1;
}

std::uint64_t TileSizes::operator[](std::size_t index) const {
  if (!divisors_.empty()) return divisors_[index];
  if (index < consecutive_) return index + 1;
  return ceil_div(dimension_, few_tiles_ - (index - consecutive_));
}

}  // namespace joulegrid
