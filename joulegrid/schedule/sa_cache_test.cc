#include "joulegrid/schedule/sa_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {
namespace {

/// Counts reads by walking the loops of the schedule, one operand at a time: nothing here knows a closed form.
class Walk {
 public:
  /// One GEMM call. `a`, `b`, `c` name the arrays, `a_first` is the cell at which this call's A begins.
  void gemm(const Gemm& g, Tile tile, const std::string& a, std::uint64_t a_first, const std::string& b) {
    for (std::uint64_t i0 = 0; i0 < g.m; i0 += tile.i) {
      for (std::uint64_t j0 = 0; j0 < g.n; j0 += tile.j) {
        const std::uint64_t height = std::min(tile.i, g.m - i0);
        const std::uint64_t width = std::min(tile.j, g.n - j0);
        for (std::uint64_t k = 0; k < g.k; ++k) {
          for (std::uint64_t j = 0; j < width; ++j) read(b, k * g.n + j0 + j);  // copy to sb[j]
          for (std::uint64_t i = 0; i < height; ++i) {
            read(a, a_first + (i0 + i) * g.k + k);  // copy to sa
            for (std::uint64_t j = 0; j < width; ++j) {
              read("sa", 0);
              read("sb", j);
              if (k == 0) continue;  // the product went straight to sc
              read("sc", i * width + j);
              read("tmp", 0);
            }
          }
        }
        for (std::uint64_t cell = 0; cell < height * width; ++cell) read("sc", cell);  // copy to C
      }
    }
  }

  void read(const std::string& array, std::uint64_t cell) {
    std::vector<Wide>& cells = reads_[array];
    if (cells.size() <= cell) cells.resize(cell + 1);
    ++cells[cell];
  }

  const std::map<std::string, std::vector<Wide>>& reads() const { return reads_; }

  /// All cells by reads, each at the next address.
  Wide steps() const {
    std::vector<Wide> all;
    for (const auto& [array, cells] : reads_) all.insert(all.end(), cells.begin(), cells.end());
    std::sort(all.begin(), all.end(), std::greater<>());
    Wide steps = 0;
    Wide address = 0;
    for (const Wide reads : all) steps += reads * distance(++address);
    return steps;
  }

 private:
  std::map<std::string, std::vector<Wide>> reads_;
};

Walk walk(const Gemm& gemm, Tile tile) {
  Walk walk;
  walk.gemm(gemm, tile, "A", 0, "B");
  for (std::uint64_t cell = 0; cell < gemm.m * gemm.n; ++cell) walk.read("C", cell);
  return walk;
}

Walk walk(const Epoch& epoch, const EpochTiles& tiles) {
  Walk walk;
  const std::vector<CallGroup>& groups = epoch.call_groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string input = groups.size() == 1 ? "input" : "input, calls of " + std::to_string(groups[g].rows);
    for (std::uint64_t call = 0; call < groups[g].calls; ++call) {
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
        const Gemm gemm = epoch.gemm(groups[g].rows, layer);
        const std::string a = layer == 0 ? input : "activation " + std::to_string(layer);
        walk.gemm(gemm, tiles[g][layer], a, layer == 0 ? call * gemm.m * gemm.k : 0, "weight " + std::to_string(layer));
      }
    }
  }
  for (std::uint64_t cell = 0; cell < epoch.examples() * epoch.widths().back(); ++cell) walk.read("output", cell);
  return walk;
}

/// Every array's reads, cell by cell, and the price.
void expect_same(const std::vector<Overlay>& overlays, const Walk& walk, const std::string& what) {
  std::size_t arrays = 0;
  for (const Overlay& overlay : overlays) {
    std::vector<Wide> cells;
    for (const Run& run : runs_of(overlay.buffers))
      cells.insert(cells.end(), static_cast<std::size_t>(run.cells), run.reads_per_cell);
    if (cells.empty()) continue;
    ++arrays;
    const auto walked = walk.reads().find(overlay.name);
    ASSERT_NE(walked, walk.reads().end()) << what << " " << overlay.name;
    ASSERT_EQ(cells, walked->second) << what << " " << overlay.name;
  }
  ASSERT_EQ(arrays, walk.reads().size()) << what;
  ASSERT_EQ(pack(overlays).steps.count(), walk.steps()) << what;
}

std::string text(const Gemm& g, Tile t) {
  return std::to_string(g.m) + "x" + std::to_string(g.k) + "x" + std::to_string(g.n) + " tile " + std::to_string(t.i) + "," +
         std::to_string(t.j);
}

TEST(SaCache, every_cell_of_random_gemms_is_read_as_often_as_walking_the_loops_reads_it) {
  const std::uint64_t seed = 11;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 600; ++round) {
    const Gemm gemm{random() % 13 + 1, random() % 6 + 1, random() % 13 + 1};
    const Tile tile{random() % gemm.m + 1, random() % gemm.n + 1};
    expect_same(sa_cache_overlays(gemm, tile).all(), walk(gemm, tile), text(gemm, tile));
  }
}

TEST(SaCache, every_cell_of_random_epochs_is_read_as_often_as_walking_the_loops_reads_it) {
  const std::uint64_t seed = 12;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = random() % 4 + 2; w > 0; --w) widths.push_back(random() % 7 + 1);
    const std::uint64_t examples = random() % 14 + 1;
    const Epoch epoch(widths, examples, random() % examples + 1);
    EpochTiles tiles;
    for (const CallGroup& group : epoch.call_groups()) {
      std::vector<Tile>& of_group = tiles.emplace_back();
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
        of_group.push_back({random() % group.rows + 1, random() % widths[layer + 1] + 1});
      }
    }
    expect_same(sa_cache_overlays(epoch, tiles).all(), walk(epoch, tiles), "round " + std::to_string(round));
  }
}

TEST(SaCache, prices_the_published_examples) {
  EXPECT_EQ(pack(sa_cache_overlays(Gemm{16, 16, 16}, {8, 4}).all()).steps.count(), Wide{73602});
  EXPECT_EQ(pack(sa_cache_overlays(Gemm{8192, 8192, 8192}, {256, 128}).all()).steps.count(), Wide{118953083721334});
}

TEST(SaCache, is_exact_past_64_bits_and_an_error_past_128) {
  // With one tile and K = 1 all counts are small enough to be added up by hand: n = 2^44 cells of B, sb, sc and C are read
  // once each (sa n times), so the price is n · d(1) + P(4n + 2) − P(1).
  const std::uint64_t n = std::uint64_t{1} << 44;
  const Packing packing = pack(sa_cache_overlays(Gemm{1, 1, n}, {1, n}).all());
  EXPECT_EQ(packing.steps.count(), n + distance_sum(4 * Wide{n} + 2) - 1);
  EXPECT_GT(packing.steps.count(), Wide{1} << 64);
  EXPECT_THROW(pack(sa_cache_overlays(Gemm{max_size, max_size, max_size}, {1, 1}).all()), Error);
}

TEST(SaCache, a_tile_must_lie_within_its_gemm) {
  EXPECT_THROW(sa_cache_overlays(Gemm{4, 4, 4}, {5, 1}), Error);
  EXPECT_THROW(sa_cache_overlays(Gemm{4, 4, 4}, {1, 5}), Error);
  EXPECT_THROW(sa_cache_overlays(Gemm{4, 4, 4}, {0, 1}), Error);
}

}  // namespace
}  // namespace joulegrid
