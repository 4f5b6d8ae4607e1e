#include "joulegrid/bound/projections.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "joulegrid/bound/roots.h"

namespace joulegrid {
namespace {

/// What a set of products touches, counted one by one: nothing here knows a formula.
struct Touched {
  std::uint64_t elements = 0;  ///< of A, B and C
  std::uint64_t loads = 0;     ///< an element of A or B counts twice where several products use it
};

/// All products of a box of m × k × n as bits, and what any set of them touches.
class Box {
 public:
  Box(unsigned m, unsigned k, unsigned n) {
    for (unsigned i = 0; i < m; ++i)
      for (unsigned l = 0; l < k; ++l)
        for (unsigned j = 0; j < n; ++j) {
          a_.push_back(i * k + l);
          b_.push_back(l * n + j);
          c_.push_back(i * n + j);
        }
  }

  unsigned products() const { return static_cast<unsigned>(a_.size()); }

  Touched touched(std::uint32_t set) const {
    std::array<unsigned, 32> a{};
    std::array<unsigned, 32> b{};
    std::array<unsigned, 32> c{};
    for (; set != 0; set &= set - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(set));
      ++a.at(a_[p]);
      ++b.at(b_[p]);
      ++c.at(c_[p]);
    }
    Touched touched;
    for (std::size_t e = 0; e < 32; ++e) {
      touched.elements += static_cast<std::uint64_t>((a[e] > 0) + (b[e] > 0) + (c[e] > 0));
      touched.loads += std::min(a[e], 2U) + std::min(b[e], 2U) + std::min(c[e], 1U);
    }
    return touched;
  }

  /// The least of both over all sets of so many products.
  Touched least(unsigned products) const {
    Touched least{1000, 1000};
    std::uint32_t set = (std::uint32_t{1} << products) - 1;
    while (set < (std::uint32_t{1} << a_.size())) {
      const Touched of_set = touched(set);
      least.elements = std::min(least.elements, of_set.elements);
      least.loads = std::min(least.loads, of_set.loads);
      const std::uint32_t low = set & (~set + 1);  // the next set of as many
      const std::uint32_t ripple = set + low;
      set = ripple | (((set ^ ripple) >> 2) / low);
    }
    return least;
  }

 private:
  std::vector<unsigned> a_, b_, c_;
};

TEST(LeastProjections, known_values) {
  const std::array<unsigned, 27> known{3,  5,  7,  8,  10, 11, 12, 12, 14, 15, 16, 16, 18, 19,
                                       20, 20, 21, 21, 23, 24, 25, 25, 26, 26, 27, 27, 27};
  EXPECT_EQ(least_projections(0), Wide{0});
  for (unsigned p = 1; p <= known.size(); ++p) EXPECT_EQ(least_projections(p), Wide{known[p - 1]}) << p;
}

TEST(LeastProjections, are_those_of_all_sets_in_a_cube_of_side_3) {
  const Box box(3, 3, 3);
  for (const unsigned p : {1U, 2U, 3U, 4U, 5U, 6U, 22U, 23U, 24U, 25U, 26U, 27U})
    EXPECT_EQ(least_projections(p), Wide{box.least(p).elements}) << p;
}

TEST(LeastLoads, are_those_of_all_sets_in_a_long_box) {
  const Box box(2, 6, 2);  // a line of products along k shares nothing but a sum, the cheapest for few
  for (unsigned p = 1; p <= 6; ++p) EXPECT_EQ(least_loads()[p], box.least(p).loads) << p;
}

TEST(LeastProjections, are_never_above_those_of_any_set_in_flat_boxes) {
  for (const auto& [m, k, n] : {std::array<unsigned, 3>{1, 4, 5}, {4, 1, 5}, {4, 5, 1}, {2, 3, 3}, {3, 2, 3}, {3, 3, 2}}) {
    const Box box(m, k, n);
    const unsigned width = std::min({m, k, n});
    for (unsigned p = 1; p <= box.products(); ++p) {
      const Touched least = box.least(p);
      EXPECT_LE(least_projections(p), Wide{least.elements});
      EXPECT_LE(least_loads()[p], least.loads);
      if (p % width == 0) {
        EXPECT_LE(least_projections(width, p / width), Wide{least.elements}) << m << k << n << " " << p;
      }
    }
  }
}

TEST(LeastProjections, of_a_thin_matrix_are_larger) {
  // 100 products of a single row: 100 elements of B, and at least 20 of A and C.
  EXPECT_EQ(least_projections(1, 100), Wide{120});
  EXPECT_EQ(least_projections(100), Wide{65});
}

TEST(LeastProjections, are_exact_for_cubes_and_never_below_the_cube_root_bound) {
  for (Wide side = 1; side < (Wide{1} << 20); side = side * 3 / 2 + 1) {
    EXPECT_EQ(least_projections(side * side * side), 3 * side * side) << to_string(side);
  }
  for (Wide p = 1; p < (Wide{1} << 59); p = p * 9 / 8 + 1) {
    const Wide bound = least_projections(p);
    EXPECT_GE(bound * bound * bound, 27 * p * p) << to_string(p);
    if (p > exact_products) {
      EXPECT_LT((bound - 1) * (bound - 1) * (bound - 1), 27 * p * p) << to_string(p);
    }
  }
}

TEST(LeastProjections, never_fall) {
  for (Wide p = 0; p < 6000; ++p) EXPECT_LE(least_projections(p), least_projections(p + 1)) << to_string(p);
  for (std::size_t p = 0; p < load_products; ++p) EXPECT_LE(least_loads()[p], least_loads()[p + 1]) << p;
  for (int bits = 50; bits < 126; ++bits) {
    const Wide p = Wide{1} << bits;
    EXPECT_LE(least_projections(p - 1), least_projections(p)) << bits;
    EXPECT_LE(least_projections(p), least_projections(p + 1)) << bits;
  }
  const std::uint64_t seed = 31;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t width = random() >> (16 + random() % 48);
    const Wide lines = random() >> (1 + random() % 63);
    EXPECT_LE(least_projections(width, lines), least_projections(width + 1, lines));
    EXPECT_LE(least_projections(width, lines), least_projections(width, lines + 1));
  }
}

}  // namespace
}  // namespace joulegrid
