#include "joulegrid/schedule/nest_reads.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/literal_nest.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {
namespace {

Packing price(const std::string& nest, const Gemm& gemm) { return pack(nest_overlays(gemm, parse_nest(nest, "nest", gemm))); }

Wide steps(const std::string& nest, const Gemm& gemm) { return price(nest, gemm).steps.count(); }

std::vector<std::uint64_t> cell_by_cell(const CellReads& reads) {
  std::vector<std::uint64_t> cells;
  for_each_run(reads, [&](const Run& run) {
    cells.insert(cells.end(), static_cast<std::size_t>(run.cells), static_cast<std::uint64_t>(run.reads_per_cell));
  });
  return cells;
}

void expect_same(const Gemm& gemm, const Nest& nest, std::uint64_t seed) {
  const NestReads reads = nest_reads(gemm, nest);
  test::Reads counted{{"tmp", {static_cast<std::uint64_t>(reads.tmp)}}};
  for (const NestArray& array : nest_arrays(nest)) counted[array.name()] = cell_by_cell(reads.of(array));
  EXPECT_EQ(test::trimmed(counted), test::trimmed(test::LiteralNest(gemm, nest).run(seed)));
}

TEST(NestReads, every_cell_of_random_nests_is_read_as_often_as_executing_them_reads_it) {
  const std::uint64_t seed = 21;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 4000; ++round) {
    const test::RandomNest r = test::random_nest(random, round % 2 == 0, 700);
    SCOPED_TRACE(to_string(r.nest) + " on " + std::to_string(r.gemm.m) + "," + std::to_string(r.gemm.k) + "," +
                 std::to_string(r.gemm.n));
    expect_same(r.gemm, r.nest, random());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(NestReads, prices_the_published_examples) {
  const Gemm small{16, 16, 16};
  EXPECT_EQ(steps("m2 n4 [C] k16 [B] m8 [A] n4", small), Wide{73602});
  EXPECT_EQ(steps("through m2 n4 [C] k16 [B] m8 [A] n4", small), Wide{72306});
  EXPECT_EQ(steps("n2 n2 k2 k2 k2 [C] m2 m2 m2 m2 [B] n2 n2 [A] k2 [C]", small), Wide{71922});
  EXPECT_EQ(steps("n400 [B] m23", {23, 1, 400}), Wide{678937});
  const Gemm large{8192, 8192, 8192};
  EXPECT_EQ(steps("n2 n2 k2 [C] k2 k2 m2 m2 m2 [B] m2 m2 n2 n2 [A] n2 n2 k2 k2 k2 k2 [C] m2 m2 [B] m2 m2 n2 n2 n2 n2 [A] "
                  "k2 k2 k2 k2 [C] k2 m2 m2 m2 [B] m2 [A] n2 n2 n2 [C] k2",
                  large),
            Wide{21937005423152});
}

TEST(NestReads, reflected_is_priced_cell_by_cell_below_even_reads) {
  const Wide exact = steps(
      "through reflected n2 n2 k2 k2 [C] k2 m2 m2 m2 [B] m2 n2 n2 [A] n2 [C] k2 k2 k2 m2 m2 m2 [B] n2 [A] n2 n2 [C] k2 [C] k2 "
      "[C] k2 m2 m2 m2 [A] [B] n2 n2 n2 [C] k2 k2 k2 [C] m2 m2 [B] m2 [A] n2 n2 [C] k2",
      {8192, 8192, 8192});
  EXPECT_EQ(exact, Wide{20343717025529});
  EXPECT_LT(exact, Wide{20404455690707});  // with even reads
}

/// Nests that search found for these sizes.
const char* const for_10240 =
    "through reflected n2 n2 k2 k2 [C] k2 m2 m2 m2 [B] m2 n2 n2 [A] n2 [C] k2 k2 k2 m2 m2 m2 [B] n2 [A] n5 [C] k2 [C] k2 [C] "
    "k2 "
    "m5 m2 [AB] n2 n2 n2 [C] k5 k2 [C] m2 m2 [B] m2 [A] n2 n2 [C] k2";
const char* const for_10000 =
    "through reflected m2 m2 k5 [AC] n5 n2 [B] m5 [C] k2 k5 [C] n2 n5 [A] m5 [B] m2 [C] k2 [C] k5 n2 n5 [A] m5 m2 [B] k2 [C] "
    "k5 "
    "[C] n2 [A] n5 [B] m5 [C] k2";

TEST(NestReads, a_prime_costs_within_one_percent_of_its_round_neighbours) {
  const auto per_mac = [](const std::string& nest, std::uint64_t size) {
    const Gemm gemm{size, size, size};
    return rounded_quotient(steps(nest, gemm), gemm.macs());
  };
  const double prime = per_mac(for_10240, 10007);
  EXPECT_LT(prime, 1.01 * per_mac(for_10240, 10240));
  EXPECT_LT(prime, 1.01 * per_mac(for_10240, 10000));
  EXPECT_LT(prime, 1.01 * per_mac(for_10000, 10000));
  EXPECT_LT(per_mac("m4 n4 [C] k127 [B] m32 [A] n32", 127), 1.01 * per_mac("m4 n4 [C] k128 [B] m32 [A] n32", 128));
}

TEST(NestReads, a_dimension_of_trillions_of_blocks_is_exact_while_few_differ) {
  const std::uint64_t m = std::uint64_t{1} << 40;
  // Without buffers A, B and C are read once a product, C's exit in place of its first; tmp is read once an addition.
  EXPECT_EQ(price("m1099511627776 n2 k2", {m, 2, 2}).charged_reads.count(), 14 * Wide{m});
  // A's buffer is read once a product instead; A itself twice an element, but for the row at which the walk turns.
  EXPECT_EQ(price("reflected n2 m1099511627776 [A] k2", {m, 2, 2}).charged_reads.count(), 18 * Wide{m} - 2);
}

TEST(NestReads, sa_cache_is_a_nest_also_where_its_tile_does_not_divide) {
  const std::uint64_t seed = 25;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    // With K = 1 a nest does not copy again what is there already; sa_cache does.
    const Gemm gemm{random() % 40 + 1, random() % 9 + 2, random() % 40 + 1};
    const Tile tile{random() % gemm.m + 1, random() % gemm.n + 1};
    const auto loop = [](char dimension, std::uint64_t trips) { return dimension + std::to_string(trips) + " "; };
    const std::string nest = loop('m', ceil_div(gemm.m, tile.i)) + loop('n', ceil_div(gemm.n, tile.j)) + "[C] " +
                             loop('k', gemm.k) + "[B] " + loop('m', tile.i) + "[A] " + loop('n', tile.j);
    ASSERT_EQ(steps(nest, gemm), pack(sa_cache_overlays(gemm, tile).all()).steps.count()) << nest;
  }
}

/// The formulas of docs/loop-nests.md for nests whose trips multiply to the dimensions: all reads of an array.
class Formulas {
 public:
  explicit Formulas(const test::RandomNest& r) : nest_(r.nest), gemm_(r.gemm) {}

  Wide reads(const NestArray& array) const {
    const Operand x = array.operand;
    const std::vector<std::size_t> depths = nest_.depths(x);
    const std::size_t innermost = depths.size();
    // N_j s_j: elements that come to level j, over all its visits; past the innermost level all products.
    const auto arrivals = [&](std::size_t level) {
      return level > innermost ? gemm_.macs() : visits(x, depths[level - 1]) * size(x, depths[level - 1]);
    };
    if (!nest_.through || innermost == 0 || array.level == 0) return arrivals(array.level + 1);
    if (x == Operand::c || array.level < innermost) return arrivals(array.level + 1) - arrivals(array.level);
    Wide sum = gemm_.macs();
    for (std::size_t level = 1; level < innermost; ++level) sum += arrivals(level);
    return sum;
  }

  Wide tmp() const {
    const std::vector<std::size_t> depths = nest_.depths(Operand::c);
    if (nest_.through || depths.empty()) return gemm_.macs() - Wide{gemm_.m} * gemm_.n;
    return gemm_.macs() - visits(Operand::c, depths.back()) * size(Operand::c, depths.back());
  }

 private:
  static bool relevant(Operand x, const Loop& loop) { return loop.dimension != axes_of(x).absent; }

  Wide size(Operand x, std::size_t depth) const {
    Wide size = 1;
    for (std::size_t i = depth; i < nest_.loops.size(); ++i) size *= relevant(x, nest_.loops[i]) ? nest_.loops[i].trips : 1;
    return size;
  }

  Wide visits(Operand x, std::size_t depth) const {
    Wide outside = 1;
    Wide forward = 1;
    Wide reflected = 1;
    for (std::size_t i = 0; i < depth; ++i) {
      const Loop& loop = nest_.loops[i];
      if (relevant(x, loop)) reflected += (loop.trips - 1) * outside;
      outside *= loop.trips;
      if (relevant(x, loop) && loop.trips > 1) forward = outside;
    }
    return nest_.reflected ? reflected : forward;
  }

  Nest nest_;
  Gemm gemm_;
};

TEST(NestReads, the_formulas_hold_for_perfect_nests) {
  const std::uint64_t seed = 26;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const test::RandomNest r = test::random_nest(random, true, 100000);
    SCOPED_TRACE(to_string(r.nest));
    const NestReads reads = nest_reads(r.gemm, r.nest);
    const Formulas formulas(r);
    ASSERT_EQ(reads.tmp, formulas.tmp());
    for (const NestArray& array : nest_arrays(r.nest)) {
      Wide sum = 0;
      for (const auto& run : profile(reads.of(array))) sum += run.cells * run.reads_per_cell;
      ASSERT_EQ(sum, formulas.reads(array)) << array.name();
    }
  }
}

TEST(NestReads, too_many_different_blocks_are_an_error_and_no_approximation) {
  std::string nest = "reflected n2";
  for (int i = 0; i < 24; ++i) nest += " m2 n2";
  const std::uint64_t size = std::uint64_t{1} << 24;
  EXPECT_THROW(price(nest + " [A]", {size, 1, 2 * size}), Error);
  // Compact blocks at two edges, whose cells interleave.
  std::string clipped = "reflected";
  for (int i = 0; i < 31; ++i) clipped += " n2 m2 [A] k2";
  EXPECT_NO_THROW(price(clipped, {131071, 2053, 131071}));
  EXPECT_THROW(price(clipped, {2147483647, 2147483647, 2147483647}), Error);
}

TEST(NestReads, counts_past_128_bits_are_an_error) {
  EXPECT_THROW(price("m281474976710656 n281474976710656 k281474976710656", {max_size, max_size, max_size}), Error);
}

}  // namespace
}  // namespace joulegrid
