#include "joulegrid/counter/tick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/base/random.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Time that passes only while somebody waits.
class VirtualTime final : public TimeSource {
 public:
  Instant now() override { return now_; }
  void sleep_for(std::chrono::nanoseconds duration) override { now_ += duration; }

 private:
  Instant now_{1s};
};

/// A counter that changes at given instants by given steps. A read takes 10 µs, with its instant in the middle.
class ScriptedCounter final : public EnergyCounter {
 public:
  struct Change {
    std::chrono::nanoseconds at;  ///< since the time began
    std::uint64_t microjoules = 0;
  };
  ScriptedCounter(TimeSource& time, std::vector<Change> changes)
      : time_(time), begin_(time.now()), changes_(std::move(changes)) {}

  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    time_.sleep_for(5us);
    const TimeSource::Instant at = time_.now();
    time_.sleep_for(5us);
    for (; next_ < changes_.size() && begin_ + changes_[next_].at <= at; ++next_) {
      energy_ += Microjoules(changes_[next_].microjoules);
    }
    if (++reads_ == fails_at) return Fault{FaultKind::device_lost, "gone"};
    return Reading{energy_, at, 10us};
  }

  std::uint64_t fails_at = 0;  ///< which read, from 1
  std::uint64_t reads() const { return reads_; }

 private:
  TimeSource& time_;
  TimeSource::Instant begin_;
  CounterDescription description_;
  std::vector<Change> changes_;
  std::size_t next_ = 0;
  Microjoules energy_{123'456'789};
  std::uint64_t reads_ = 0;
};

std::vector<ScriptedCounter::Change> regular(std::chrono::nanoseconds tick, std::uint64_t count, std::uint64_t step = 1000) {
  std::vector<ScriptedCounter::Change> changes;
  for (std::uint64_t i = 1; i <= count; ++i) changes.push_back({tick * static_cast<std::int64_t>(i), step});
  return changes;
}

Measured<Tick> tick_of(std::vector<ScriptedCounter::Change> changes, const TickOptions& options = {}) {
  VirtualTime time;
  ScriptedCounter counter(time, std::move(changes));
  return measure_tick(counter, time, options);
}

/// A look every 210 µs: the pause and a read.
constexpr std::chrono::nanoseconds look = 210us;

TEST(Tick, of_a_regular_counter_is_known_to_within_a_look) {
  for (const std::chrono::nanoseconds tick : {10ms, 20ms, 33ms, 100ms}) {
    const Tick measured = tick_of(regular(tick, 1000)).value();
    EXPECT_NEAR(static_cast<double>(measured.median().count()), static_cast<double>(tick.count()), 210'000.0);
    EXPECT_GE(measured.shortest(), tick - look);
    EXPECT_LE(measured.longest(), tick + look);
    EXPECT_EQ(measured.longest_look, look);
    EXPECT_EQ(measured.smallest_change, Microjoules(1000));
    EXPECT_EQ(measured.resolution, Microjoules(1000));
  }
}

TEST(Tick, the_mean_of_many_is_better_than_a_look) {
  const Tick measured = tick_of(regular(15ms, 1000)).value();
  // 63 intervals: the ends are known to a look each, so the mean to a look over 63.
  ASSERT_EQ(measured.intervals.size(), 63U);
  EXPECT_NEAR(static_cast<double>(measured.mean().count()), 15e6, 210'000.0 / 63);
}

TEST(Tick, ends_after_enough_changes_or_when_the_time_is_over) {
  TickOptions options;
  options.enough_changes = 10;
  EXPECT_EQ(tick_of(regular(10ms, 1000), options).value().intervals.size(), 9U);

  VirtualTime time;
  ScriptedCounter counter(time, regular(100ms, 1000));
  const TimeSource::Instant begin = time.now();
  EXPECT_EQ(measure_tick(counter, time).value().intervals.size(), 8U + 1U);  // ten changes in a second, to within a look
  EXPECT_NEAR(std::chrono::duration<double>(time.now() - begin).count(), 1.0, 0.001);
}

TEST(Tick, of_a_counter_with_jitter_has_its_shortest_and_its_longest) {
  SplitMix64 random(1);
  std::vector<ScriptedCounter::Change> changes;
  std::chrono::nanoseconds at{};
  std::vector<std::chrono::nanoseconds> intervals;
  for (int i = 0; i < 64; ++i) {
    const std::chrono::nanoseconds interval = 16ms + std::chrono::microseconds(random.below(8000));
    at += interval;
    if (i > 0) intervals.push_back(interval);
    changes.push_back({at, 1000});
  }
  TickOptions options;
  options.limit = 3s;
  const Tick measured = tick_of(changes, options).value();
  ASSERT_EQ(measured.intervals.size(), intervals.size());
  std::sort(intervals.begin(), intervals.end());
  const auto near = [](std::chrono::nanoseconds a, std::chrono::nanoseconds b) { return a - b <= look && b - a <= look; };
  EXPECT_TRUE(std::is_sorted(measured.intervals.begin(), measured.intervals.end()));
  EXPECT_TRUE(near(measured.shortest(), intervals.front()));
  EXPECT_TRUE(near(measured.median(), intervals[31]));
  EXPECT_TRUE(near(measured.longest(), intervals.back()));
}

TEST(Tick, resolution_is_the_greatest_common_divisor_of_the_changes) {
  EXPECT_EQ(tick_of({{10ms, 6000}, {20ms, 15'000}, {30ms, 21'000}}).value().resolution, Microjoules(3000));
  EXPECT_EQ(tick_of({{10ms, 6000}, {20ms, 15'000}, {30ms, 21'000}}).value().smallest_change, Microjoules(6000));
  EXPECT_EQ(tick_of({{10ms, 7}, {20ms, 11}, {30ms, 700}}).value().resolution, Microjoules(1));
  EXPECT_EQ(tick_of({{10ms, 900}, {20ms, 300}, {30ms, 600}}).value().smallest_change, Microjoules(300));
}

TEST(Tick, common_step_is_euclids) {
  EXPECT_EQ(common_step(Microjoules(12), Microjoules(18)), Microjoules(6));
  EXPECT_EQ(common_step(Microjoules(0), Microjoules(18)), Microjoules(18));
  EXPECT_EQ(common_step(Microjoules(18), Microjoules(0)), Microjoules(18));
}

TEST(Tick, of_a_counter_that_stands_still_is_frozen) {
  const Measured<Tick> tick = tick_of({});
  EXPECT_EQ(tick.fault().kind, FaultKind::frozen);
  EXPECT_THAT(tick.fault().reason, HasSubstr("1000 ms"));
}

TEST(Tick, three_changes_are_the_least) {
  EXPECT_EQ(tick_of(regular(10ms, 1)).fault().kind, FaultKind::too_few_changes);
  EXPECT_THAT(tick_of(regular(10ms, 1)).fault().reason, HasSubstr("1 time within"));
  EXPECT_EQ(tick_of(regular(10ms, 2)).fault().kind, FaultKind::too_few_changes);
  EXPECT_THAT(tick_of(regular(10ms, 2)).fault().reason, HasSubstr("2 times within"));
  EXPECT_EQ(tick_of(regular(10ms, 3)).value().intervals.size(), 2U);
}

TEST(Tick, of_a_counter_with_a_fault_is_that_fault) {
  for (const std::uint64_t read : {1U, 2U, 100U}) {
    VirtualTime time;
    ScriptedCounter counter(time, regular(10ms, 1000));
    counter.fails_at = read;
    EXPECT_EQ(measure_tick(counter, time).fault(), (Fault{FaultKind::device_lost, "gone"}));
    EXPECT_EQ(counter.reads(), read);
  }
}

TEST(Tick, of_numbers_that_fall_is_a_fault) {
  Wide energy = 1000;
  TimeSource::Instant at;
  const Measured<Tick> tick = measure_tick(
      [&] {
        return Measured<Reading>(Reading{Microjoules(--energy), at += 1ms, {}});
      },
      [](std::chrono::nanoseconds) {});
  EXPECT_EQ(tick.fault().kind, FaultKind::went_backwards);
  EXPECT_THAT(tick.fault().reason, HasSubstr("from 999 to 998"));
}

}  // namespace
}  // namespace joulegrid
