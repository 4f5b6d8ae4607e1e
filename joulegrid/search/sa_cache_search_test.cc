#include "joulegrid/search/sa_cache_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/packing.h"

namespace joulegrid {
namespace {

Wide packed(const Epoch& epoch, const EpochTiles& tiles) { return pack(sa_cache_overlays(epoch, tiles).all()).steps.count(); }

/// Every tile of a GEMM that the candidates allow, rows outer, ascending.
std::vector<Tile> every_tile(const Gemm& gemm, Candidates candidates) {
  std::vector<Tile> tiles;
  for (std::uint64_t i = 1; i <= gemm.m; ++i) {
    for (std::uint64_t j = 1; j <= gemm.n; ++j) {
      if (candidates == Candidates::all || (gemm.m % i == 0 && gemm.n % j == 0)) tiles.push_back({i, j});
    }
  }
  return tiles;
}

struct Descended {
  EpochTiles tiles;
  Wide steps = 0;
  int sweeps = 0;
  Start start{};
};

/// The search as its definition reads: every candidate priced by packing the whole epoch, nothing left out.
Descended slow_descent(const Epoch& epoch, Candidates candidates) {
  std::optional<Descended> best;
  for (const Start start : all_starts) {
    EpochTiles tiles;
    for (const CallGroup& group : epoch.call_groups()) {
      std::vector<Tile>& of_group = tiles.emplace_back();
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
        const Gemm gemm = epoch.gemm(group.rows, layer);
        Tile chosen = start == Start::all_maximum_tiles ? Tile{gemm.m, gemm.n} : Tile{1, 1};
        if (start == Start::independent_layer_optima) {
          for (const Tile tile : every_tile(gemm, candidates)) {
            if (packed(Epoch::of(gemm), {{tile}}) < packed(Epoch::of(gemm), {{chosen}})) chosen = tile;
          }
        }
        of_group.push_back(chosen);
      }
    }
    Descended descended{tiles, packed(epoch, tiles), 0, start};
    for (bool changed = true; changed;) {
      changed = false;
      ++descended.sweeps;
      for (std::size_t group = 0; group < tiles.size(); ++group) {
        for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
          for (const Tile tile : every_tile(epoch.gemm(epoch.call_groups()[group].rows, layer), candidates)) {
            EpochTiles tried = descended.tiles;
            tried[group][layer] = tile;
            if (const Wide steps = packed(epoch, tried); steps < descended.steps) {
              descended.steps = steps;
              descended.tiles = tried;
              changed = true;
            }
          }
        }
      }
    }
    if (!best || descended.steps < best->steps) best = descended;
  }
  return *best;
}

TEST(SaCacheSearch, finds_what_trying_every_candidate_finds) {
  const std::uint64_t seed = 31;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 120; ++round) {
    const Candidates candidates = round % 2 == 0 ? Candidates::divisors : Candidates::all;
    const std::uint64_t largest = candidates == Candidates::divisors ? 60 : 14;
    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = random() % 3 + 2; w > 0; --w) widths.push_back(random() % largest + 1);
    const std::uint64_t examples = random() % largest + 1;
    const Epoch epoch(widths, examples, random() % examples + 1);
    const Descended slow = slow_descent(epoch, candidates);
    SaCacheSearchOptions options;
    options.candidates = candidates;
    const EpochTilesFound found = search_epoch_tiles(epoch, options);
    ASSERT_EQ(found.steps.count(), slow.steps) << "round " << round;
    ASSERT_EQ(found.tiles, slow.tiles) << "round " << round;
    ASSERT_EQ(found.sweeps, slow.sweeps) << "round " << round;
    ASSERT_EQ(found.start, slow.start) << "round " << round;
    ASSERT_TRUE(found.complete);
  }
}

TEST(SaCacheSearch, gives_the_first_of_equally_cheap_tiles) {
  const std::uint64_t seed = 32;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  int ties = 0;
  for (int round = 0; round < 400; ++round) {
    const Gemm gemm{random() % 20 + 1, random() % 3 + 1, random() % 20 + 1};
    SaCacheSearchOptions options;
    options.candidates = round % 2 == 0 ? Candidates::divisors : Candidates::all;
    Tile first{1, 1};
    Wide least = packed(Epoch::of(gemm), {{first}});
    int cheapest = 1;
    for (const Tile tile : every_tile(gemm, options.candidates)) {
      const Wide steps = packed(Epoch::of(gemm), {{tile}});
      if (steps == least && tile != first) ++cheapest;
      if (steps < least) {
        least = steps;
        first = tile;
        cheapest = 1;
      }
    }
    if (cheapest > 1) ++ties;
    const GemmTile found = search_gemm_tile(gemm, options);
    ASSERT_EQ(found.tile, first) << "round " << round;
    ASSERT_EQ(found.steps.count(), least) << "round " << round;
  }
  EXPECT_GT(ties, 10) << "the test should see ties";
}

TEST(SaCacheSearch, best_divisor_tile_of_8192_cubed_is_the_published_one) {
  const GemmTile found = search_gemm_tile({8192, 8192, 8192});
  EXPECT_EQ(found.tile, (Tile{256, 128}));
  EXPECT_EQ(found.steps.count(), Wide{118953083721334});
}

TEST(SaCacheSearch, candidates_past_128_bits_lose_and_only_when_all_do_is_it_an_error) {
  const std::uint64_t size = std::uint64_t{1} << 33;  // a tile of one cell costs more than 2^128
  const Gemm gemm{size, size, size};
  EXPECT_THROW(packed(Epoch::of(gemm), {{{1, 1}}}), Error);
  EXPECT_EQ(packed(Epoch::of(gemm), {{{65536, 65536}}}), parse_wide("184455616884319919297702617262364404", "steps"));
  for (const Candidates candidates : {Candidates::divisors, Candidates::all}) {
    SaCacheSearchOptions options;
    options.candidates = candidates;
    EXPECT_LE(search_gemm_tile(gemm, options).steps.count(), parse_wide("184455616884319919297702617262364404", "steps"));
    EXPECT_EQ(search_epoch_tiles(Epoch::of(gemm), options).steps, search_gemm_tile(gemm, options).steps);
    EXPECT_THROW(search_gemm_tile({max_size, max_size, max_size}, options), Error);
    EXPECT_THROW(search_epoch_tiles(Epoch::of({max_size, max_size, max_size}), options), Error);
  }
}

TEST(SaCacheSearch, a_stopped_search_hands_over_a_valid_schedule_and_says_so) {
  Stop stop;
  stop.request();
  SaCacheSearchOptions options;
  options.stop = &stop;
  const Epoch epoch({784, 2500, 10}, 1000, 64);
  const EpochTilesFound found = search_epoch_tiles(epoch, options);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.steps.count(), packed(epoch, found.tiles));
  EXPECT_FALSE(search_gemm_tile({64, 64, 64}, options).complete);
}

TEST(SaCacheSearch, reports_progress_after_every_sweep) {
  SaCacheSearchOptions options;
  int sweeps = 0;
  options.progress = [&](const DescentProgress& progress) {
    ++sweeps;
    EXPECT_GT(progress.best.count(), Wide{0});
  };
  const EpochTilesFound found = search_epoch_tiles(Epoch({784, 2500, 10}, 1000, 64), options);
  EXPECT_GE(sweeps, 3);
  EXPECT_GE(sweeps, found.sweeps);
}

}  // namespace
}  // namespace joulegrid
