#include "joulegrid/search/nest_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/nest_reads.h"
#include "joulegrid/search/in_order.h"
#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid {
namespace {

NestSearchOptions evaluations(std::uint64_t count, std::uint64_t seed = 1) {
  NestSearchOptions options;
  options.seed = seed;
  options.evaluations = count;
  return options;
}

Wide price(const Gemm& gemm, const Nest& nest) { return pack(nest_overlays(gemm, nest)).steps.count(); }

TEST(NestSearch, finds_the_cheapest_of_all_nests_of_tiny_gemms) {
  for (const Gemm& gemm : {Gemm{2, 2, 2}, Gemm{3, 2, 2}, Gemm{2, 3, 2}, Gemm{1, 5, 3}}) {
    // Sizes up to 3 have one loop each here; 5 also has m2 m3, m3 m2 and the like, which the search may use and this may not.
    std::vector<Loop> loops;
    for (const Dimension dimension : all_dimensions) {
      if (size_of(gemm, dimension) > 1) loops.push_back({dimension, size_of(gemm, dimension)});
    }
    const auto before = [](const Loop& a, const Loop& b) { return a.dimension < b.dimension; };
    std::sort(loops.begin(), loops.end(), before);
    Wide cheapest = ~Wide{0};
    do {
      for (std::size_t marks = 0; marks < std::size_t{1} << (3 * loops.size()); ++marks) {
        Nest nest{loops, {}};
        for (std::size_t bit = 0; bit < 3 * loops.size(); ++bit) {
          if ((marks >> bit & 1) != 0) nest.marks.push_back({bit / 3 + 1, all_operands.at(bit % 3)});
        }
        for (const bool through : {false, true}) {
          for (const bool reflected : {false, true}) {
            nest.through = through;
            nest.reflected = reflected;
            cheapest = std::min(cheapest, price(gemm, nest));
          }
        }
      }
    } while (std::next_permutation(loops.begin(), loops.end(), before));
    const NestsFound found = search_nests({Epoch::of(gemm)}, evaluations(60000));
    EXPECT_EQ(found.evaluations, 60000U);
    EXPECT_LE(found.steps.count(), cheapest) << to_string(found.nests[0][0]);
    if (gemm.k < 5) {
      EXPECT_EQ(found.steps.count(), cheapest) << to_string(found.nests[0][0]);
    }
  }
}

TEST(NestSearch, says_the_exact_price) {
  const Gemm gemm{37, 24, 50};
  const NestsFound found = search_nests({Epoch::of(gemm)}, evaluations(20000));
  EXPECT_EQ(found.steps.count(), price(gemm, found.nests[0][0]));
  const NestsFound epoch = search_nests({Epoch({8, 30, 6}, 50, 16)}, evaluations(20000));
  EXPECT_EQ(epoch.steps, pack(nest_overlays(epoch.epoch, epoch.nests)).steps);
}

TEST(NestSearch, beats_flat_tiles) {
  for (const Gemm& gemm : {Gemm{16, 16, 16}, Gemm{64, 100, 30}, Gemm{101, 7, 1}}) {
    EXPECT_LT(search_nests({Epoch::of(gemm)}, evaluations(50000)).steps, search_gemm_tile(gemm).steps);
  }
  EXPECT_LE(search_nests({Epoch::of({16, 16, 16})}, evaluations(200000)).steps.count(), Wide{69656});
  const Epoch epoch({30, 64, 20, 10}, 100, 30);
  EXPECT_LT(search_nests({epoch}, evaluations(50000)).steps, search_epoch_tiles(epoch).steps);
}

TEST(NestSearch, finds_the_same_on_any_number_of_threads) {
  const std::vector<std::uint64_t> widths{12, 40, 7};
  const std::vector<Epoch> epochs{{widths, 48, 7}, {widths, 48, 48}, {widths, 48, 16}, {widths, 48, 1}};
  for (const std::uint64_t count : {3000U, 31234U, 100000U}) {
    NestSearchOptions options = evaluations(count, 5);
    const NestsFound one = search_nests(epochs, options);
    EXPECT_EQ(one.evaluations, count);
    for (const unsigned threads : {2U, 5U}) {
      options.threads = threads;
      const NestsFound more = search_nests(epochs, options);
      EXPECT_EQ(more.nests, one.nests);
      EXPECT_EQ(more.epoch, one.epoch);
      EXPECT_EQ(more.steps, one.steps);
      EXPECT_EQ(more.evaluations, count);
    }
  }
  const NestsFound other = search_nests(epochs, evaluations(31234, 6));
  EXPECT_NE(other.nests, search_nests(epochs, evaluations(31234, 5)).nests);
}

TEST(NestSearch, finds_the_same_again_in_as_many_evaluations_as_a_stopped_one_has_done) {
  const std::vector<std::uint64_t> widths{12, 40, 7};
  for (const std::vector<Epoch>& epochs :
       {std::vector<Epoch>{Epoch::of({100, 60, 90})}, std::vector<Epoch>{{widths, 48, 7}, {widths, 48, 48}},
        std::vector<Epoch>{{widths, 480, 100}}}) {
    for (const int milliseconds : {1, 20, 90, 170}) {
      Stop stop;
      stop.set_deadline(Stop::Clock::now() + std::chrono::milliseconds(milliseconds));
      NestSearchOptions options;
      options.stop = &stop;
      options.threads = 3;
      const NestsFound stopped = search_nests(epochs, options);
      const NestsFound again = search_nests(epochs, evaluations(stopped.evaluations));
      EXPECT_EQ(again.steps, stopped.steps);
      EXPECT_EQ(again.nests, stopped.nests);
      EXPECT_EQ(again.evaluations, stopped.evaluations);
    }
  }
}

TEST(NestSearch, beams_depend_on_the_number_of_evaluations_only) {
  const std::vector<std::uint64_t> widths{12, 40, 7};
  for (const std::vector<Epoch>& epochs :
       {std::vector<Epoch>{Epoch::of({16, 16, 16})}, std::vector<Epoch>{{widths, 48, 7}, {widths, 48, 48}, {widths, 48, 16}}}) {
    NestSearchOptions options = evaluations(30000);
    options.method = NestMethod::beam;
    const NestsFound one = search_nests(epochs, options);
    EXPECT_LE(one.evaluations, 30000U);
    EXPECT_GT(one.evaluations, 3000U);
    EXPECT_EQ(one.steps, pack(nest_overlays(one.epoch, one.nests)).steps);
    options.threads = 3;
    options.seed = 2;  // nothing is random
    EXPECT_EQ(search_nests(epochs, options).nests, one.nests);
    options.evaluations = one.evaluations;
    const NestsFound again = search_nests(epochs, options);
    EXPECT_EQ(again.nests, one.nests);
    EXPECT_EQ(again.evaluations, one.evaluations);
    Stop stop;
    stop.set_deadline(Stop::Clock::now() + std::chrono::milliseconds(30));
    options.evaluations.reset();
    options.stop = &stop;
    const NestsFound stopped = search_nests(epochs, options);
    options.evaluations = stopped.evaluations;
    options.stop = nullptr;
    EXPECT_EQ(search_nests(epochs, options).nests, stopped.nests);
  }
}

TEST(NestSearch, beams_end_when_wider_ones_find_the_same) {
  NestSearchOptions options = evaluations(100'000'000);
  options.method = NestMethod::beam;
  EXPECT_LT(search_nests({Epoch::of({2, 2, 3})}, options).evaluations, 1'000'000U);
}

TEST(NestSearch, is_no_worse_after_more_rounds) {
  GridSteps before(~Wide{0});
  for (const std::uint64_t rounds : {1U, 3U, 7U}) {  // a round is as long as all before it, and one of the first
    const NestsFound found = search_nests({Epoch::of({48, 36, 50})}, evaluations(8 * 4096 * rounds));
    EXPECT_LE(found.steps, before);
    before = found.steps;
  }
}

TEST(NestSearch, leaves_out_marks_that_make_nothing_cheaper) {
  const Gemm gemm{48, 36, 50};
  const NestsFound found = search_nests({Epoch::of(gemm)}, evaluations(100000));
  const Nest& nest = found.nests[0][0];
  EXPECT_GT(nest.marks.size(), 2U);
  for (std::size_t i = 0; i < nest.marks.size(); ++i) {
    Nest without = nest;
    without.marks.erase(without.marks.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_GT(price(gemm, without), found.steps.count()) << to_string(without);
  }
}

TEST(NestSearch, stopped_before_it_begins_has_a_nest_without_buffers) {
  Stop stop;
  stop.request();
  NestSearchOptions options;
  options.stop = &stop;
  const NestsFound found = search_nests({Epoch::of({4, 6, 2})}, options);
  EXPECT_EQ(to_string(found.nests[0][0]), "through reflected m2 m2 n2 k2 k3");
  EXPECT_EQ(found.evaluations, 0U);
  EXPECT_EQ(found.steps.count(), price({4, 6, 2}, found.nests[0][0]));
}

TEST(NestSearch, reports_progress_that_only_improves) {
  NestSearchOptions options = evaluations(100000);
  std::vector<NestSearchProgress> seen;
  options.progress = [&](const NestSearchProgress& at) { seen.push_back(at); };
  options.threads = 2;
  const NestsFound found = search_nests({Epoch::of({64, 64, 64})}, options);
  ASSERT_FALSE(seen.empty());
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_LE(seen[i].best, seen[i - 1].best);
    EXPECT_GE(seen[i].round, seen[i - 1].round);
  }
  EXPECT_LE(found.steps, seen.back().best);
  EXPECT_EQ(seen.back().round, found.rounds);
}

TEST(NestSearch, sizes_whose_prices_pass_128_bits_are_an_overflow) {
  EXPECT_THROW(search_nests({Epoch::of({max_size, max_size, max_size})}, evaluations(5000)), Error);
}

TEST(RunInOrder, runs_every_task_once_and_counts_the_unbroken_prefix) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::vector<std::atomic<int>> runs(100);
    EXPECT_EQ(run_in_order(runs.size(), threads, nullptr, [&](std::size_t i) { return ++runs[i] > 0; }), 100U);
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_EQ(run_in_order(100, threads, nullptr, [&](std::size_t i) { return i != 42 && i != 71; }), 42U);
    EXPECT_EQ(run_in_order(0, threads, nullptr, [](std::size_t) { return true; }), 0U);
    EXPECT_THROW(run_in_order(10, threads, nullptr,
                              [](std::size_t i) {
                                if (i == 3) throw Error(ErrorCode::overflow, "too much");
                                return true;
                              }),
                 Error);
    Stop stop;
    EXPECT_EQ(run_in_order(100, threads, &stop,
                           [&](std::size_t i) {
                             if (i == 9) stop.request();
                             return true;
                           }) >= 10,
              true);
  }
}

}  // namespace
}  // namespace joulegrid
