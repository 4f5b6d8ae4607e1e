#include "joulegrid/search/placement_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/packing.h"

namespace joulegrid {
namespace {

using Signed = PlacementBound::Signed;

class PlacementBoundTest : public testing::Test {
 protected:
  explicit PlacementBoundTest(std::uint64_t seed = 77) : random_(seed) { RecordProperty("seed", std::to_string(seed)); }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  Epoch epoch(std::uint64_t largest) {
    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = below(3) + 2; w > 0; --w) widths.push_back(below(largest) + 1);
    const std::uint64_t examples = below(largest) + 1;
    return {widths, examples, below(examples) + 1};
  }

  ChosenTiles choose(const TileChoices& choices) {
    ChosenTiles chosen;
    for (const auto& of : choices) chosen.push_back(of[below(of.size())]);
    return chosen;
  }

  /// Some of all choices, at least one of each.
  TileChoices some(const PlacementBound& bound) {
    TileChoices choices = bound.everything();
    for (auto& of : choices) {
      std::shuffle(of.begin(), of.end(), random_);
      of.resize(below(of.size()) + 1);
    }
    return choices;
  }

  Signed packed(const Epoch& epoch, const EpochTiles& tiles) {
    return static_cast<Signed>(pack(sa_cache_overlays(epoch, tiles).all()).steps.count());
  }

  std::mt19937_64 random_;
};

Candidates candidates_of(int round) { return round % 2 == 0 ? Candidates::divisors : Candidates::all; }

TEST_F(PlacementBoundTest, of_one_choice_of_tiles_is_their_price) {
  for (int round = 0; round < 200; ++round) {
    const Epoch of = epoch(round % 10 == 9 ? 3000 : 40);
    const PlacementBound bound(of, candidates_of(round));
    const ChosenTiles chosen = choose(bound.everything());
    TileChoices single;
    for (const std::uint32_t choice : chosen) single.push_back({choice});
    const auto multipliers = bound.multipliers_of(chosen);
    const auto boxes = bound.boxes_of(single, multipliers.levels);
    ASSERT_FALSE(boxes.empty) << "round " << round;
    const Signed price = packed(of, bound.tiles_of(chosen));
    ASSERT_TRUE(bound.evaluate(single, multipliers, boxes).bound == price) << "round " << round;
  }
}

TEST_F(PlacementBoundTest, never_exceeds_the_price_of_tiles_among_the_choices) {
  for (int round = 0; round < 300; ++round) {
    const Epoch of = epoch(round % 10 == 9 ? 2000 : 40);
    const PlacementBound bound(of, candidates_of(round));
    const TileChoices choices = some(bound);
    auto multipliers = bound.multipliers_of(choose(bound.everything()));
    const auto boxes = bound.boxes_of(choices, multipliers.levels);
    ASSERT_FALSE(boxes.empty);
    for (int step = 0; step < 4; ++step) {
      const auto value = bound.evaluate(choices, multipliers, boxes);
      for (int sample = 0; sample < 20; ++sample) {
        ChosenTiles chosen;
        Signed at_chosen = value.bound;  // the bound of tiles whose costs are not the smallest
        for (std::size_t x = 0; x < choices.size(); ++x) {
          const std::size_t at = below(choices[x].size());
          chosen.push_back(choices[x][at]);
          at_chosen += value.costs[x][at] - value.costs[x][value.smallest[x]];
        }
        ASSERT_TRUE(at_chosen <= packed(of, bound.tiles_of(chosen))) << "round " << round << ", step " << step;
      }
      if (step == 1) {
        // Arbitrary multipliers, too.
        const auto scale = [&](std::int64_t& multiplier) {
          multiplier = multiplier / 100 * static_cast<std::int64_t>(below(200));
        };
        std::for_each(multipliers.price.begin(), multipliers.price.end(), scale);
        for (auto& shares : multipliers.shares) std::for_each(shares.begin(), shares.end(), scale);
      } else {
        multipliers = bound.step(choices, multipliers, boxes, value, static_cast<double>(below(1000000)));
      }
    }
    const auto other = bound.multipliers_of(choose(bound.everything()));
    const auto mean = PlacementBound::mean_of(multipliers, other);
    const Signed of_mean = bound.evaluate(choices, mean, bound.boxes_of(choices, mean.levels)).bound;
    ASSERT_TRUE(of_mean <= packed(of, bound.tiles_of(choose(choices))));
  }
}

TEST_F(PlacementBoundTest, boxes_hold_the_packing_of_every_choice) {
  for (int round = 0; round < 200; ++round) {
    const Epoch of = epoch(30);
    const PlacementBound bound(of, candidates_of(round));
    const TileChoices choices = some(bound);
    const auto levels = bound.multipliers_of(choose(bound.everything())).levels;
    const auto boxes = bound.boxes_of(choices, levels);
    for (int sample = 0; sample < 5; ++sample) {
      const Packing packing = pack(sa_cache_overlays(of, bound.tiles_of(choose(choices))).all());
      // pack lists sa, tmp, sb, sc, …, output; the bound sb, sc, …, sa, tmp, output.
      const std::size_t overlays = boxes.least.size() - 1;
      for (std::size_t overlay = 0; overlay < overlays; ++overlay) {
        const std::size_t here = overlay < 2 ? overlays - 3 + overlay : overlay == overlays - 1 ? overlay : overlay - 2;
        for (std::size_t m = 0; m < levels.size(); ++m) {
          Wide inside = 0;
          for (std::int64_t r = levels[m].first; r < levels[m].first + levels[m].count; ++r) {
            const auto last = static_cast<Wide>(r * r);
            for (const PackedRegion& region : packing.regions) {
              if (region.overlay != overlay || region.first_address > last) continue;
              inside += std::min(last, region.last_address) - region.first_address + 1;
            }
          }
          ASSERT_LE(static_cast<Wide>(boxes.least[here][m]), inside) << "round " << round << ", overlay " << overlay;
          ASSERT_GE(static_cast<Wide>(boxes.most[here][m]), inside) << "round " << round << ", overlay " << overlay;
        }
      }
    }
  }
}

TEST_F(PlacementBoundTest, refuses_what_its_sums_may_not_hold) {
  EXPECT_THROW(PlacementBound(Epoch({std::uint64_t{1} << 40, 64}, 1024, 64), Candidates::divisors), Error);
  EXPECT_THROW(PlacementBound(Epoch({8, 1'000'000'007}, 1'000'000'007, 1'000'000'007), Candidates::all), Error);
}

}  // namespace
}  // namespace joulegrid
