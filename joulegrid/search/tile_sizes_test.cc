#include "joulegrid/search/tile_sizes.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {
namespace {

std::vector<std::uint64_t> listed(const TileSizes& sizes) {
  std::vector<std::uint64_t> list;
  for (std::size_t i = 0; i < sizes.count(); ++i) list.push_back(sizes[i]);
  return list;
}

TEST(TileSizes, divisors_are_all_divisors) {
  for (std::uint64_t n = 1; n <= 400; ++n) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t d = 1; d <= n; ++d) {
      if (n % d == 0) expected.push_back(d);
    }
    ASSERT_EQ(listed(TileSizes(n, Candidates::divisors)), expected) << n;
  }
}

TEST(TileSizes, all_lists_the_smallest_size_of_every_tile_count) {
  for (std::uint64_t n = 1; n <= 3000; ++n) {
    std::set<std::uint64_t> expected;
    for (std::uint64_t c = 1; c <= n; ++c) expected.insert(ceil_div(n, c));
    ASSERT_EQ(listed(TileSizes(n, Candidates::all)), std::vector<std::uint64_t>(expected.begin(), expected.end())) << n;
  }
}

TEST(TileSizes, the_largest_dimension_takes_no_memory) {
  const TileSizes sizes(max_size, Candidates::all);
  EXPECT_EQ(sizes.count(), (std::size_t{2} << 24) - 1);
  EXPECT_EQ(sizes[0], 1U);
  EXPECT_EQ(sizes[sizes.count() - 1], max_size);
  EXPECT_EQ(sizes[sizes.count() - 2], max_size / 2);
}

}  // namespace
}  // namespace joulegrid
