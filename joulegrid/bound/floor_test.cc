#include "joulegrid/bound/floor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

const Epoch published({784, 2500, 2000, 1500, 1000, 500, 10}, 60000, 64);

/// Level by level and in the sum.
void expect_no_smaller(const Problem& larger, const Problem& smaller, const std::string& what) {
  const Floor more = floor_of(larger);
  const Floor less = floor_of(smaller);
  EXPECT_GE(more.steps.count(), less.steps.count()) << what;
  ASSERT_GE(more.levels.size(), less.levels.size()) << what;
  for (std::size_t i = 0; i < less.levels.size(); ++i)
    EXPECT_GE(more.levels[i].slow_reads.count(), less.levels[i].slow_reads.count()) << what << ", level " << i;
}

TEST(Floor, of_known_problems) {
  EXPECT_EQ(to_string(floor_of(Gemm{16, 16, 16}).steps.count()), "45861");
  EXPECT_EQ(to_string(floor_of(Gemm{512, 512, 512}).steps.count()), "2443363064");
  EXPECT_EQ(to_string(floor_of(Gemm{8192, 8192, 8192}).steps.count()), "13057550640743");
  EXPECT_EQ(to_string(floor_of(published).steps.count()), "14459550236600");
}

TEST(Floor, is_attained_by_the_smallest_product) {
  // a at address 1, b at 2, c over a: 1 + 2 steps for the operands and 1 at exit.
  EXPECT_EQ(floor_of(Gemm{1, 1, 1}).steps.count(), Wide{4});
}

TEST(Floor, steps_are_the_sum_of_the_levels_and_the_joint_reads) {
  for (const Problem& problem : {Problem(Gemm{300, 20, 77}), Problem(published), Problem(Gemm{100000, 90000, 80000})}) {
    const Floor floor = floor_of(problem);
    Wide steps = floor.joint.reads.count();
    std::uint64_t next = 0;
    for (const FloorLevel& level : floor.levels) {
      EXPECT_EQ(level.last_radius + 1 - level.radii, next);
      next = level.last_radius + 1;
      steps += level.radii * level.slow_reads.count();
    }
    EXPECT_EQ(floor.steps.count(), steps);
  }
}

TEST(Floor, of_one_layer_is_that_of_its_matrix_product) {
  EXPECT_EQ(floor_of(Epoch({30, 40}, 50, 7)).steps, floor_of(Gemm{50, 30, 40}).steps);
}

TEST(Floor, does_not_depend_on_the_batch) {
  EXPECT_EQ(floor_of(Epoch({30, 40, 9}, 50, 7)).steps, floor_of(Epoch({30, 40, 9}, 50, 50)).steps);
}

TEST(Floor, of_a_product_never_falls_as_a_dimension_grows) {
  const std::uint64_t seed = 35;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto size = [&] { return random() % 8 + 1 + random() % (std::uint64_t{1} << random() % 9); };
  for (int round = 0; round < 250; ++round) {
    const Gemm gemm{size(), size(), size()};
    const std::string what =
        std::to_string(gemm.m) + " " + std::to_string(gemm.k) + " " + std::to_string(gemm.n) + " (m, k, n)";
    const std::uint64_t more = random() % 3 == 0 ? random() % 50 : 1;
    expect_no_smaller(Gemm{gemm.m + more, gemm.k, gemm.n}, gemm, what + ": m");
    expect_no_smaller(Gemm{gemm.m, gemm.k + more, gemm.n}, gemm, what + ": k");
    expect_no_smaller(Gemm{gemm.m, gemm.k, gemm.n + more}, gemm, what + ": n");
  }
}

TEST(Floor, of_a_chain_never_falls_as_a_width_or_the_examples_grow) {
  const std::uint64_t seed = 36;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> widths;
    for (std::uint64_t levels = random() % 4 + 3; levels > 0; --levels)
      widths.push_back(random() % (random() % 2 ? 8 : 90) + 1);
    const std::uint64_t examples = random() % (random() % 2 ? 10 : 300) + 1;
    const Epoch epoch(widths, examples, 1);
    expect_no_smaller(Epoch(widths, examples + 1, 1), epoch, "examples, round " + std::to_string(round));
    for (std::size_t level = 0; level < widths.size(); ++level) {
      std::vector<std::uint64_t> wider = widths;
      ++wider[level];
      expect_no_smaller(Epoch(wider, examples, 1), epoch,
                        "level " + std::to_string(level) + ", round " + std::to_string(round));
    }
  }
}

TEST(Floor, is_exact_past_64_bits_and_an_error_past_128) {
  EXPECT_GT(floor_of(Gemm{1, 1, std::uint64_t{1} << 44}).steps.count(), Wide{1} << 64);
  EXPECT_GT(floor_of(Gemm{std::uint64_t{1} << 31, std::uint64_t{1} << 31, std::uint64_t{1} << 31}).steps.count(),
            Wide{1} << 95);
  EXPECT_THROW(floor_of(Gemm{max_size, max_size, max_size}), Error);
  EXPECT_THROW(floor_of(Epoch({max_size, max_size, max_size}, max_size, 1)), Error);
  EXPECT_NO_THROW(floor_of(Epoch(std::vector<std::uint64_t>(40, 123456789), 123456789012, 1)));
}

}  // namespace
}  // namespace joulegrid
