#include "joulegrid/workload/cpu/thread_team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

namespace joulegrid {
namespace {

TEST(ThreadTeam, calls_the_work_once_on_every_thread_each_time) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadTeam team(threads);
    std::vector<int> calls(threads, 0);
    for (int i = 1; i <= 100; ++i) {
      team.run([&](unsigned thread) { ++calls[thread]; });
      ASSERT_EQ(calls, std::vector<int>(threads, i));
    }
  }
}

TEST(ThreadTeam, that_is_idle_uses_no_processor_time) {
  ThreadTeam team(3);
  team.run([](unsigned) {});
  const auto seconds = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  };
  const double before = seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(seconds() - before, 0.05);
}

TEST(SpinBarrier, nobody_passes_before_all_have_come) {
  constexpr unsigned threads = 4;
  constexpr int rounds = 500;
  ThreadTeam team(threads);
  SpinBarrier barrier(threads);
  std::vector<int> at(threads, 0);  // not atomic: the barrier orders it
  std::atomic<int> wrong{0};
  team.run([&](unsigned thread) {
    for (int i = 1; i <= rounds; ++i) {
      at[thread] = i;
      barrier.wait();
      for (const int other : at) wrong += other != i ? 1 : 0;
      barrier.wait();
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace joulegrid
