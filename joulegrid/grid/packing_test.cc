#include "joulegrid/grid/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {
namespace {

/// The same price cell by cell: every cell's reads, sorted, each at the next address.
struct CellByCell {
  Wide steps = 0;
  Wide reads = 0;
  std::map<std::size_t, Wide> reads_by_layer;
};

CellByCell price_cell_by_cell(const std::vector<Overlay>& overlays) {
  std::vector<Wide> cells;
  CellByCell price;
  for (const Overlay& overlay : overlays) {
    Wide longest = 0;
    for (const Buffer& buffer : overlay.buffers) longest = std::max(longest, buffer.first_cell + buffer.cells - 1);
    for (Wide cell = 1; cell <= longest; ++cell) {
      Wide reads = 0;
      for (const Buffer& buffer : overlay.buffers) {
        if (buffer.first_cell <= cell && cell < buffer.first_cell + buffer.cells) reads += buffer.reads_per_cell;
      }
      cells.push_back(reads);
    }
  }
  std::sort(cells.begin(), cells.end(), std::greater<>());
  Wide address = 0;
  for (const Wide reads : cells) {
    price.steps += reads * distance(++address);
    price.reads += reads;
  }
  return price;
}

TEST(Packing, random_overlays_cost_what_their_cells_cost_one_by_one) {
  const std::uint64_t seed = 7;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<Overlay> overlays;
    for (std::uint64_t o = random() % 6 + 1; o > 0; --o) {
      Overlay overlay{"o" + std::to_string(o), Role::scratch, {}};
      for (std::uint64_t b = random() % 4; b > 0; --b) {
        const Wide first_cell = random() % 2 == 0 ? 1 : random() % 20 + 1;
        overlay.buffers.push_back({random() % 30, random() % 9, random() % 3, first_cell});
      }
      overlays.push_back(overlay);
    }
    const Packing packing = pack(overlays);
    const CellByCell slow = price_cell_by_cell(overlays);
    ASSERT_EQ(packing.steps.count(), slow.steps) << "round " << round;
    ASSERT_EQ(packing.charged_reads.count(), slow.reads) << "round " << round;
    GridSteps of_layers;
    for (const GridSteps steps : packing.layer_steps) of_layers += steps;
    ASSERT_EQ(of_layers, packing.steps) << "round " << round;
    GridSteps of_regions;
    Wide next = 1;
    for (const PackedRegion& region : packing.regions) {
      of_regions += region.steps;
      ASSERT_EQ(region.first_address, next);
      ASSERT_EQ(region.last_address, next + region.cells - 1);
      next += region.cells;
    }
    ASSERT_EQ(of_regions, packing.steps) << "round " << round;
  }
}

TEST(Packing, names_the_cells_of_a_divided_overlay) {
  const Packing packing = pack({{"sc", Role::scratch, {{3, 1, 0}, {8, 2, 1}}}, {"A", Role::input, {{2, 9, 0}}}});
  ASSERT_EQ(packing.regions.size(), 3U);
  EXPECT_EQ(packing.regions[0].name, "A");
  EXPECT_EQ(packing.regions[1].name, "sc[1..3]");
  EXPECT_EQ(packing.regions[1].reads_per_cell, Wide{3});
  EXPECT_EQ(packing.regions[2].name, "sc[4..8]");
}

TEST(Packing, a_price_past_128_bits_is_an_error) {
  const Wide many = static_cast<Wide>(1) << 80;
  EXPECT_EQ(pack({{"x", Role::input, {{many, 1, 0}}}}).charged_reads.count(), many);
  EXPECT_THROW(pack({{"x", Role::input, {{many, 1000, 0}}}}), Error);
}

}  // namespace
}  // namespace joulegrid
