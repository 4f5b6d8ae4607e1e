#include "joulegrid/bound/radii.h"

namespace joulegrid {

std::vector<RadiusRange> radius_ranges(Wide cells) {
  constexpr std::uint64_t one_by_one = std::uint64_t{1} << 14;
  constexpr std::uint64_t parts = 256;
  std::vector<RadiusRange> ranges;
  for (std::uint64_t first = 1; static_cast<Wide>(first) * first < cells;) {
    const std::uint64_t last = first <= one_by_one ? first : first + first / parts;
    ranges.push_back({first, last});
    first = last + 1;
  }
  return ranges;
}

std::vector<Wide> spread_counts(Wide most) {
  constexpr Wide parts = 64;
  std::vector<Wide> counts;
  for (Wide count = 1; count <= most; count += count < parts ? 1 : count / parts) counts.push_back(count);
  return counts;
}

}  // namespace joulegrid
