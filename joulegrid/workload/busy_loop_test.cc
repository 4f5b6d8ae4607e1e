#include "joulegrid/workload/busy_loop.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

namespace joulegrid {
namespace {

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

/// Seconds of processor time for so many repetitions.
double cost(Stage& stage, std::uint64_t repetitions) {
  const double before = processor_seconds();
  stage.enqueue(repetitions);
  EXPECT_FALSE(stage.synchronise());
  return processor_seconds() - before;
}

TEST(BusyLoop, costs_processor_time_for_every_repetition_on_every_thread) {
  const auto one = make_busy_loop("one", 1);
  const auto two = make_busy_loop("two", 2);
  EXPECT_EQ(one->name(), "one");
  cost(*one, 10);
  const double base = cost(*one, 100);
  // A multiplication and an addition take at least three cycles of a processor below 10 GHz.
  EXPECT_GT(base, 100 * static_cast<double>(busy_loop_operations) * 3 / 10e9);
  EXPECT_NEAR(cost(*one, 300) / base, 3, 1.5);
  EXPECT_NEAR(cost(*two, 100) / base, 2, 1);
}

TEST(BusyLoop, does_nothing_when_nothing_is_enqueued) {
  const auto loop = make_busy_loop("loop", 2);
  EXPECT_LT(cost(*loop, 0), 0.05);
}

}  // namespace
}  // namespace joulegrid
