#include "joulegrid/ir/price.h"

#include <algorithm>
#include <numeric>

namespace joulegrid::ir {

std::uint64_t instruction_count(const Price& price) {
  return std::accumulate(price.instructions.begin(), price.instructions.end(), std::uint64_t{0});
}

void ReadHistogram::charge_far(std::uint64_t distance, std::uint64_t reads) {
  if (distance < near_distances) {
    near_.resize(std::min(near_distances, std::max<std::uint64_t>(64, 2 * distance)));
    near_[distance] += reads;
  } else {
    far_[distance] += reads;
  }
}

Price ReadHistogram::price() const {
  Price price;
  for (std::uint64_t d = 0; d < near_.size(); ++d) {
    if (near_[d] != 0) price.histogram.push_back({d, near_[d]});
  }
  const auto first_far = static_cast<std::ptrdiff_t>(price.histogram.size());
  far_.for_each([&](std::uint64_t d, std::uint64_t reads) { price.histogram.push_back({d, reads}); });
  std::sort(price.histogram.begin() + first_far, price.histogram.end(),
            [](const DistanceReads& a, const DistanceReads& b) { return a.distance < b.distance; });
  for (const DistanceReads& bin : price.histogram) {
    price.steps += GridSteps(checked_mul(bin.distance, bin.reads));
    price.charged_reads += Reads(bin.reads);
  }
  return price;
}

Price Pricer::price() const {
  Price price = reads_.price();
  price.instructions = instructions_;
  return price;
}

}  // namespace joulegrid::ir
