#include "joulegrid/bound/block_envelope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace joulegrid {
namespace {

TEST(BlockEnvelope, is_the_best_of_all_cuts) {
  const std::uint64_t seed = 32;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<Wide> fast_cells;
    for (Wide s = 1; fast_cells.size() < random() % 40 + 1; s += random() % 9 + 1) fast_cells.push_back(s);
    BlockEnvelope envelope(fast_cells);
    std::vector<Cut> cuts;
    for (std::uint64_t count = random() % 50; count > 0; --count) {
      const std::uint64_t blocks = random() % 30 + 1;
      cuts.push_back({blocks, blocks * (random() % 60)});
      envelope.add(cuts.back());
    }
    for (std::size_t i = 0; i < fast_cells.size(); ++i) {
      Wide most = 0;
      for (const Cut& cut : cuts) most = std::max(most, cut.slow_reads(fast_cells[i]));
      ASSERT_EQ(envelope.slow_reads(i), most) << round << " " << i;
    }
  }
}

TEST(BlockEnvelope, compares_cuts_whose_products_pass_128_bits) {
  const Wide large = Wide{1} << 90;
  BlockEnvelope envelope({1, large});
  envelope.add({large, large * 4});  // 3·2^90 with one fast cell, far below zero with 2^90
  envelope.add({1, large + 5});
  EXPECT_EQ(envelope.slow_reads(0), large * 3);
  EXPECT_EQ(envelope.slow_reads(1), Wide{5});
}

TEST(BlockEnvelope, of_no_cells_takes_cuts) {
  BlockEnvelope envelope({});
  envelope.add({1, 1});
}

}  // namespace
}  // namespace joulegrid
