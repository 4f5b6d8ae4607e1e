#pragma once

#include <cstdint>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// Radii first .. last of the address grid, bounded together by what holds at the last one: slow reads only fall with the
/// radius.
struct RadiusRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;

  std::uint64_t count() const { return last - first + 1; }
  /// The cells within the last radius.
  Wide cells() const { return static_cast<Wide>(last) * last; }
};

/// Ranges from radius 1 on until `cells` lie within: one radius each up to 2^14, then ever longer ones (by 1/256). The ranges
/// of fewer cells are the first ones of these, so that a floor summed over them cannot fall as a problem grows.
std::vector<RadiusRange> radius_ranges(Wide cells);

/// An ascending list of counts, up to `most`: all up to 64, then each larger by 1/64 than the last one; that of a smaller
/// `most` is the beginning of this one.
std::vector<Wide> spread_counts(Wide most);

}  // namespace joulegrid
