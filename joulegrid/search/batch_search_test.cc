#include "joulegrid/search/batch_search.h"

#include <gtest/gtest.h>

namespace joulegrid {
namespace {

TEST(BatchSearch, tries_divisors_and_powers_of_two) {
  EXPECT_EQ(batch_candidates(12), (std::vector<std::uint64_t>{1, 2, 3, 4, 6, 8, 12}));
  EXPECT_EQ(batch_candidates(1), (std::vector<std::uint64_t>{1}));
}

TEST(BatchSearch, finds_the_cheapest_of_its_batches) {
  const std::vector<std::uint64_t> widths{24, 30, 10};
  const BatchFound best = search_batches(widths, 60, batch_candidates(60));
  GridSteps least = best.found.steps;
  std::uint64_t evaluations = 0;
  for (const std::uint64_t batch : batch_candidates(60)) {
    const EpochTilesFound found = search_epoch_tiles(Epoch(widths, 60, batch));
    least = std::min(least, found.steps);
    evaluations += found.evaluations;
    if (batch < best.epoch.batch()) {
      EXPECT_GT(found.steps, best.found.steps) << batch;
    }
  }
  EXPECT_EQ(best.found.steps, least);
  EXPECT_EQ(best.evaluations, evaluations);
  EXPECT_TRUE(best.complete);
}

TEST(BatchSearch, hands_over_the_best_so_far_when_it_is_stopped) {
  Stop stop;
  int calls = 0;
  const BatchFound best = search_batches({24, 30, 10}, 60, batch_candidates(60), {Candidates::divisors, &stop, {}},
                                         [&](const std::string&, const DescentProgress&) {
                                           if (++calls == 4) stop.request();
                                         });
  EXPECT_FALSE(best.complete);
  EXPECT_GT(best.found.steps.count(), Wide{0});
}

}  // namespace
}  // namespace joulegrid
