#include "joulegrid/search/tile_pricer.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/grid/packing.h"

namespace joulegrid {
namespace {

struct Case {
  Epoch epoch;
  EpochTiles tiles;
};

Case random_case(std::mt19937_64& random, std::uint64_t largest) {
  std::vector<std::uint64_t> widths;
  for (std::uint64_t w = random() % 4 + 2; w > 0; --w) widths.push_back(random() % largest + 1);
  const std::uint64_t examples = random() % largest + 1;
  Case c{Epoch(widths, examples, random() % examples + 1), {}};
  for (const CallGroup& group : c.epoch.call_groups()) {
    std::vector<Tile>& of_group = c.tiles.emplace_back();
    for (std::size_t layer = 0; layer < c.epoch.layers(); ++layer) {
      of_group.push_back({random() % group.rows + 1, random() % widths[layer + 1] + 1});
    }
  }
  return c;
}

Wide packed(const Epoch& epoch, const EpochTiles& tiles) { return pack(sa_cache_overlays(epoch, tiles).all()).steps.count(); }

TEST(TilePricer, prices_what_packing_the_whole_epoch_prices) {
  const std::uint64_t seed = 21;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    Case c = random_case(random, round % 2 == 0 ? 40 : 3000);
    const TileIndex free{random() % c.tiles.size(), random() % c.epoch.layers()};
    TilePricer pricer(c.epoch, c.tiles, free);
    for (int candidate = 0; candidate < 20; ++candidate) {
      Tile& tile = c.tiles[free.group][free.layer];
      tile = {random() % pricer.gemm().m + 1, random() % pricer.gemm().n + 1};
      ASSERT_EQ(pricer.steps(tile), packed(c.epoch, c.tiles)) << "round " << round << " candidate " << candidate;
    }
  }
}

TEST(TilePricer, no_tile_of_a_rectangle_costs_less_than_its_bound) {
  const std::uint64_t seed = 22;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const Case c = random_case(random, 24);
    const TileIndex free{random() % c.tiles.size(), random() % c.epoch.layers()};
    TilePricer pricer(c.epoch, c.tiles, free);
    const Gemm gemm = pricer.gemm();
    for (int rectangle = 0; rectangle < 5; ++rectangle) {
      const Tile first{random() % gemm.m + 1, random() % gemm.n + 1};
      const Tile last{first.i + random() % (gemm.m - first.i + 1), first.j + random() % (gemm.n - first.j + 1)};
      const Wide bound = pricer.lower_bound({first, last});
      for (std::uint64_t i = first.i; i <= last.i; ++i) {
        for (std::uint64_t j = first.j; j <= last.j; ++j) {
          ASSERT_LE(bound, pricer.steps({i, j})) << "round " << round << " tile " << i << "," << j;
        }
      }
    }
  }
}

TEST(TilePricer, the_bound_of_one_dividing_tile_is_its_price) {
  TilePricer pricer(Epoch::of({48, 5, 36}), {{{1, 1}}}, {0, 0});
  for (const Tile tile : {Tile{1, 1}, Tile{8, 12}, Tile{48, 36}})
    EXPECT_EQ(pricer.lower_bound({tile, tile}), pricer.steps(tile));
}

}  // namespace
}  // namespace joulegrid
