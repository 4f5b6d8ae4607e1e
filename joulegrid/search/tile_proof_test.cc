#include "joulegrid/search/tile_proof.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/grid/packing.h"
#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid {
namespace {

Wide packed(const Epoch& epoch, const EpochTiles& tiles) { return pack(sa_cache_overlays(epoch, tiles).all()).steps.count(); }

/// Every tile of a GEMM that the candidates allow, by definition.
std::vector<Tile> every_tile(const Gemm& gemm, Candidates candidates) {
  std::vector<Tile> tiles;
  for (std::uint64_t i = 1; i <= gemm.m; ++i) {
    for (std::uint64_t j = 1; j <= gemm.n; ++j) {
      if (candidates == Candidates::all || (gemm.m % i == 0 && gemm.n % j == 0)) tiles.push_back({i, j});
    }
  }
  return tiles;
}

/// The price of the cheapest combination of tiles; zero where there are too many to try.
Wide brute_force(const Epoch& epoch, Candidates candidates, std::size_t most_combinations) {
  std::vector<std::vector<Tile>> choices;
  std::size_t combinations = 1;
  for (const CallGroup& group : epoch.call_groups()) {
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      choices.push_back(every_tile(epoch.gemm(group.rows, layer), candidates));
      combinations *= choices.back().size();
      if (combinations > most_combinations) return 0;
    }
  }
  Wide least = 0;
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    EpochTiles tiles(epoch.call_groups().size());
    std::size_t rest = combination;
    for (std::size_t x = 0; x < choices.size(); ++x) {
      tiles[x / epoch.layers()].push_back(choices[x][rest % choices[x].size()]);
      rest /= choices[x].size();
    }
    const Wide steps = packed(epoch, tiles);
    if (least == 0 || steps < least) least = steps;
  }
  return least;
}

class TileProofTest : public testing::Test {
 protected:
  Epoch epoch() {
    static constexpr std::array<std::uint64_t, 12> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16};
    const auto size = [&] { return sizes[random_() % sizes.size()]; };
    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = random_() % 3 + 2; w > 0; --w) widths.push_back(size());
    const std::uint64_t batch = size();
    return {widths, batch * (random_() % 3 + 1) + random_() % batch, batch};
  }

  std::mt19937_64 random_{78};
};

TEST_F(TileProofTest, finds_the_cheapest_combination_of_tiles) {
  RecordProperty("seed", "78");
  int tried = 0;
  int better = 0;
  for (int round = 0; tried < 150; ++round) {
    const Epoch of = epoch();
    TileProofOptions options;
    options.candidates = round % 3 == 2 ? Candidates::all : Candidates::divisors;
    const Wide least = brute_force(of, options.candidates, 10'000);
    if (least == 0) continue;
    ++tried;
    SaCacheSearchOptions descent;
    descent.candidates = options.candidates;
    const EpochTilesFound found = search_epoch_tiles(of, descent);
    // From the worst tiles as well: the proof has to find what it proves.
    EpochTiles smallest(of.call_groups().size(), std::vector<Tile>(of.layers()));
    for (const EpochTiles& known : {found.tiles, smallest}) {
      const TileProof proof = prove_epoch_tiles(of, known, options);
      ASSERT_EQ(proof.steps.count(), least) << "round " << round;
      ASSERT_EQ(proof.lower_bound.count(), least) << "round " << round;
      ASSERT_EQ(packed(of, proof.tiles), least) << "round " << round;
      ASSERT_TRUE(proof.optimal());
    }
    if (found.steps.count() > least) ++better;
  }
  RecordProperty("descents that were not optimal", better);
}

TEST_F(TileProofTest, stopped_at_any_time_its_bound_holds) {
  RecordProperty("seed", "78");
  for (int tried = 0; tried < 60;) {
    const Epoch of = epoch();
    const Wide least = brute_force(of, Candidates::divisors, 10'000);
    if (least == 0) continue;
    ++tried;
    EpochTiles smallest(of.call_groups().size(), std::vector<Tile>(of.layers()));
    for (int nodes = -1; nodes < 3; ++nodes) {
      Stop stop;
      TileProofOptions options;
      options.stop = &stop;
      if (nodes < 0) stop.request();
      int seen = 0;
      options.progress = [&](const ProofProgress& at) {
        EXPECT_LE(at.lower_bound.count(), least);
        EXPECT_GE(at.best.count(), least);
        if (++seen > nodes) stop.request();
      };
      const TileProof proof = prove_epoch_tiles(of, smallest, options);
      ASSERT_LE(proof.lower_bound.count(), least);
      ASSERT_GE(proof.steps.count(), least);
      ASSERT_EQ(packed(of, proof.tiles), proof.steps.count());
      if (nodes < 0) {
        ASSERT_EQ(proof.tiles, smallest);
      }
    }
  }
}

TEST_F(TileProofTest, confirms_the_tiles_of_published_batches) {
  for (const std::uint64_t batch : {64U, 16U, 4U}) {
    const Epoch published({784, 2500, 2000, 1500, 1000, 500, 10}, 60'000, batch);
    const EpochTilesFound found = search_epoch_tiles(published);
    const TileProof proof = prove_epoch_tiles(published, found.tiles);
    EXPECT_TRUE(proof.optimal());
    EXPECT_EQ(proof.tiles, found.tiles) << batch;
  }
}

}  // namespace
}  // namespace joulegrid
