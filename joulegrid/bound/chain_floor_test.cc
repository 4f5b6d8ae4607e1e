#include "joulegrid/bound/chain_floor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "joulegrid/bound/least_slow_reads.h"
#include "joulegrid/bound/projections.h"
#include "joulegrid/bound/walked_programs.h"

namespace joulegrid {
namespace {

using Signed = __int128;

/// Theorem 2 of docs/floor.md (all layers), or Theorem 3 with `uses` = 2, written down once more.
Signed blocks(const Epoch& epoch, Signed fast, Signed uses) {
  const auto products = static_cast<std::uint64_t>(epoch.macs());
  Signed most = 0;
  for (std::uint64_t size = 1; size <= std::min<std::uint64_t>(products, load_products); ++size) {
    const auto block = [&](std::uint64_t p) {
      const Signed loads = uses == 1 ? static_cast<Signed>(least_projections(p)) : static_cast<Signed>(least_loads()[p]);
      return std::max<Signed>(0, loads - uses * fast);
    };
    most = std::max(most, static_cast<Signed>(products / size) * block(size) + block(products % size));
  }
  Signed hidden = 0;
  for (std::size_t level = 1; level < epoch.layers(); ++level)
    hidden += static_cast<Signed>(epoch.examples() * epoch.widths()[level]);
  const auto outputs = static_cast<Signed>(epoch.examples() * epoch.widths().back());
  return most - (uses == 1 ? 1 : 3) * hidden - std::min(fast, outputs);
}

Wide always(const Epoch& epoch) { return chain_floor(epoch).levels[0].slow_reads.count(); }

std::string text(const Epoch& epoch) {
  std::string text = std::to_string(epoch.examples()) + " rows of";
  for (const std::uint64_t width : epoch.widths()) text += " " + std::to_string(width);
  return text;
}

TEST(ChainFloor, theorems_are_never_above_the_best_of_all_tiny_programs) {
  for (const Epoch& epoch : {Epoch({1, 1, 1}, 1, 1), Epoch({1, 1, 1}, 3, 3), Epoch({1, 2, 1}, 2, 2), Epoch({2, 1, 2}, 2, 2),
                             Epoch({2, 2, 1}, 1, 1), Epoch({1, 2, 2}, 1, 1), Epoch({1, 1, 2, 1}, 2, 2),
                             Epoch({2, 1, 1, 2}, 1, 1), Epoch({1, 1, 1, 1}, 2, 2), Epoch({1, 3, 1}, 1, 1)}) {
    std::vector<unsigned> widths;
    for (const std::uint64_t width : epoch.widths()) widths.push_back(static_cast<unsigned>(width));
    const auto problem = testing::layer_chain(static_cast<unsigned>(epoch.examples()), widths);
    const Floor floor = chain_floor(epoch);
    for (unsigned fast = 1; fast <= 2; ++fast) {
      const unsigned best = testing::least_slow_reads(problem, fast);
      EXPECT_LE(blocks(epoch, fast, 1), best) << text(epoch) << ", " << fast;
      EXPECT_LE(blocks(epoch, fast, 2), testing::least_slow_reads(problem, fast, 1)) << text(epoch) << ", " << fast;
    }
    if (floor.levels.size() > 1) {
      EXPECT_LE(floor.levels[1].slow_reads.count(), Wide{testing::least_slow_reads(problem, 1)}) << text(epoch);
    }
  }
}

TEST(ChainFloor, is_never_above_a_random_program_level_by_level) {
  const std::uint64_t seed = 34;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> widths;
    for (std::uint64_t levels = random() % 3 + 3; levels > 0; --levels) widths.push_back(random() % 6 + 1);
    const std::uint64_t rows = random() % 8 + 1;
    const Epoch epoch(widths, rows, rows);
    const testing::ReadCounts counts = testing::walk_random_chain(epoch, random);
    const std::string what = text(epoch) + ", round " + std::to_string(round);
    testing::expect_below(chain_floor(epoch), counts, what);
    for (std::uint64_t fast = 0; fast < 40; ++fast) {
      const Wide slow = counts.slow_reads(fast);
      EXPECT_LE(blocks(epoch, static_cast<Signed>(fast), 1), static_cast<Signed>(slow)) << what << ", " << fast;
      EXPECT_LE(blocks(epoch, static_cast<Signed>(fast), 2), static_cast<Signed>(slow + counts.slow_reads(0) - always(epoch)))
          << what << ", " << fast;
    }
  }
}

TEST(ChainFloor, leaves_out_layers_that_only_cost) {
  // A wide pair of layers, and narrow ones after it whose elements cost more than their products can bring at large radii.
  const Epoch wide({600, 600, 600}, 4000, 4000);
  const Epoch longer({600, 600, 600, 1, 1, 1}, 4000, 4000);
  const Floor of_wide = chain_floor(wide);
  const Floor of_longer = chain_floor(longer);
  for (std::size_t i = 0; i < of_longer.levels.size() && i < of_wide.levels.size(); ++i) {
    if (of_longer.levels[i].theorem != FloorTheorem::chain) continue;
    EXPECT_GE(of_longer.levels[i].slow_reads.count() + 4000 * 600, of_wide.levels[i].slow_reads.count()) << i;
  }
}

}  // namespace
}  // namespace joulegrid
