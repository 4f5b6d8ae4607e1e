#include "joulegrid/measure/processor_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace joulegrid {
namespace {

std::filesystem::path file_with(const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "processor_time_stat";
  std::ofstream(path) << text;
  return path;
}

TEST(BusyMicroseconds, sum_what_is_not_idle_and_count_guests_once) {
  // user nice system idle iowait irq softirq steal guest guest_nice, in hundredths of a second
  const auto path = file_with("cpu  100 20 3 90000 500 4 5 7 60 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  if (::sysconf(_SC_CLK_TCK) != 100) GTEST_SKIP() << "the clock ticks differently here";
  EXPECT_EQ(busy_microseconds(path).value(), (100U + 20 + 3 + 4 + 5) * 10'000);
}

TEST(BusyMicroseconds, are_missing_where_the_kernel_tells_something_else) {
  EXPECT_FALSE(busy_microseconds(file_with("")));
  EXPECT_FALSE(busy_microseconds(file_with("cpu  100 20\n")));
  EXPECT_FALSE(busy_microseconds("/no/such/file"));
}

TEST(OwnMicroseconds, grow_with_the_work_of_this_process) {
  const std::uint64_t before = own_microseconds().value();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) {
  }
  const std::uint64_t spent = own_microseconds().value() - before;
  EXPECT_GT(spent, 5'000U);
  EXPECT_LT(spent, 1'000'000U);
}

}  // namespace
}  // namespace joulegrid
