#include "joulegrid/measure/live_instruments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Counts its own calls, notices reads that overlap, and takes as long as it is told. It lives as long as nobody calls it
/// afterwards, so a thread that goes on is noticed by the sanitizers too.
class CountingCounter final : public EnergyCounter {
 public:
  const CounterDescription& describe() const override { return description_; }

  Measured<Reading> read() override {
    if (reading_.exchange(true)) overlapped = true;
    const Clock::time_point at = Clock::now();
    while (Clock::now() - at < read_takes) {
    }
    reading_ = false;
    return Reading{Microjoules(++reads), at, {}};
  }

  TelemetrySample telemetry() override {
    ++samples;
    const Clock::time_point at = Clock::now();
    if (telemetry_takes.count() > 0) std::this_thread::sleep_for(telemetry_takes);
    return TelemetrySample::missing(at, {FaultKind::not_supported, "not told"});
  }

  // Set before sampling begins.
  std::chrono::nanoseconds read_takes{};
  std::chrono::nanoseconds telemetry_takes{};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> samples{0};
  std::atomic<bool> overlapped{false};

 private:
  CounterDescription description_;
  std::atomic<bool> reading_{false};
};

/// Works on the calling thread for that long.
void work_for(std::chrono::nanoseconds duration) {
  const Clock::time_point end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

/// Until the counter has been sampled so often, or a second is over.
void wait_for_samples(const CountingCounter& counter, std::uint64_t samples) {
  const Clock::time_point end = Clock::now() + 1s;
  while (counter.samples < samples && Clock::now() < end) std::this_thread::sleep_for(1ms);
}

class DetailedStage final : public Stage {
 public:
  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override {
    calls += "enqueue " + std::to_string(repetitions) + ", ";
    begun_ = Clock::now();
  }
  std::optional<Fault> synchronise() override {
    calls += "synchronise, ";
    work_for(20ms);
    ended_ = Clock::now();
    return fault;
  }
  std::string details() override {
    calls += "details, ";
    return R"({"n":1})";
  }

  Clock::time_point begun() const { return begun_; }
  Clock::time_point ended() const { return ended_; }

  std::string calls;
  std::optional<Fault> fault;

 private:
  std::string name_ = "work";
  Clock::time_point begun_, ended_;
};

TEST(LiveRun, enqueues_synchronises_once_and_takes_the_details) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  DetailedStage stage;
  const Clock::time_point before = Clock::now();
  const Aggregate aggregate = instruments.run(stage, 7);
  const Clock::time_point after = Clock::now();
  EXPECT_EQ(stage.calls, "enqueue 7, synchronise, details, ");
  EXPECT_EQ(aggregate.details, R"({"n":1})");
  EXPECT_FALSE(aggregate.fault);
  EXPECT_GE(aggregate.duration(), 20ms);
  EXPECT_LE(before, aggregate.begin);
  EXPECT_LE(aggregate.begin, stage.begun());
  EXPECT_LE(stage.ended(), aggregate.end);
  EXPECT_LE(aggregate.end, after);
  EXPECT_EQ(counter.reads, 0U);  // never within the work
}

TEST(LiveRun, hands_on_the_fault_of_the_stage) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  DetailedStage stage;
  stage.fault = Fault{FaultKind::work_failed, "the wrong sum"};
  EXPECT_EQ(instruments.run(stage, 1).fault, stage.fault);
}

TEST(LiveSampling, goes_on_about_every_interval_while_this_thread_works) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  const Clock::time_point begin = Clock::now();
  instruments.start_sampling(10ms);
  work_for(200ms);
  instruments.stop_sampling();
  const std::chrono::nanoseconds took = Clock::now() - begin;
  const std::vector<TelemetrySample> samples = instruments.take_samples();
  EXPECT_GE(samples.size(), 5U);  // 20 on an idle machine
  EXPECT_LE(samples.size(), static_cast<std::size_t>(took / 10ms) + 2);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].at, begin);
    EXPECT_LE(samples[i].at, begin + took);
    EXPECT_EQ(samples[i].counter.value().energy, Microjoules(i + 1));  // each with a reading of its own, in order
    EXPECT_GE(samples[i].counter.value().at, samples[i].at);
    EXPECT_TRUE(i == 0 || samples[i].at > samples[i - 1].at);
  }
}

TEST(LiveSampling, samples_are_taken_once) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  EXPECT_TRUE(instruments.take_samples().empty());
  instruments.start_sampling(5ms);
  wait_for_samples(counter, 3);
  std::size_t taken = instruments.take_samples().size();
  EXPECT_GE(taken, 2U);  // the third may not have come back yet
  instruments.stop_sampling();
  taken += instruments.take_samples().size();
  EXPECT_EQ(taken, counter.samples);
  EXPECT_TRUE(instruments.take_samples().empty());
}

TEST(LiveSampling, ends_with_stop_sampling_and_may_begin_again) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  instruments.stop_sampling();  // nothing to stop
  for (int again = 0; again < 2; ++again) {
    const std::uint64_t before = counter.samples;
    instruments.start_sampling(2ms);
    wait_for_samples(counter, before + 3);
    instruments.stop_sampling();
    const std::uint64_t stopped = counter.samples;
    EXPECT_GE(stopped, before + 3);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(counter.samples, stopped);
  }
}

TEST(LiveSampling, ends_with_the_object_without_waiting_for_the_interval) {
  CountingCounter counter;
  const Clock::time_point begin = Clock::now();
  {
    LiveInstruments instruments(counter);
    instruments.start_sampling(1h);
    wait_for_samples(counter, 1);
  }
  EXPECT_LT(Clock::now() - begin, 5s);
  const std::uint64_t after = counter.samples;
  EXPECT_EQ(after, 1U);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(counter.samples, after);
}

/// An interval below what a look at the clock takes: as often as it goes, and it ends.
TEST(LiveSampling, of_a_nanosecond_is_as_fast_as_it_goes) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  instruments.start_sampling(1ns);
  wait_for_samples(counter, 20);
  instruments.stop_sampling();
  EXPECT_GE(counter.samples, 20U);
}

TEST(LiveSampling, a_slow_telemetry_call_delays_only_samples) {
  CountingCounter counter;
  counter.telemetry_takes = 150ms;
  LiveInstruments instruments(counter);
  instruments.start_sampling(10ms);
  wait_for_samples(counter, 1);
  // Within the first telemetry call, with room for a loaded machine: reads and samples already taken wait for nobody.
  const Clock::time_point begin = Clock::now();
  std::chrono::nanoseconds quickest = 1s;
  for (int i = 0; i < 20; ++i) {
    const Clock::time_point before = Clock::now();
    EXPECT_TRUE(instruments.read());
    instruments.take_samples();
    quickest = std::min<std::chrono::nanoseconds>(quickest, Clock::now() - before);
  }
  EXPECT_LT(quickest, 10ms);
  EXPECT_LT(Clock::now() - begin, 150ms * 20);
  work_for(400ms - std::min<std::chrono::nanoseconds>(400ms, Clock::now() - begin));
  instruments.stop_sampling();
  // One after another, none queued up: at most one per call's time.
  EXPECT_GE(counter.samples, 2U);
  EXPECT_LE(counter.samples, static_cast<std::uint64_t>((Clock::now() - begin) / 150ms) + 2);
}

TEST(LiveReads, are_never_done_by_two_threads_at_once) {
  CountingCounter counter;
  counter.read_takes = 200us;
  LiveInstruments instruments(counter);
  instruments.start_sampling(100us);
  std::uint64_t own = 0;
  const Clock::time_point end = Clock::now() + 200ms;
  std::uint64_t last = 0;
  while (Clock::now() < end) {
    const Measured<Reading> reading = instruments.read();
    EXPECT_GT(reading.value().energy, Microjoules(last));
    last = static_cast<std::uint64_t>(reading.value().energy.count());
    ++own;
    std::this_thread::sleep_for(50us);
  }
  instruments.stop_sampling();
  EXPECT_FALSE(counter.overlapped);
  EXPECT_GE(own, 3U);
  EXPECT_GE(instruments.take_samples().size(), 3U);
  EXPECT_GT(counter.reads, own);
}

TEST(LiveInstruments, tells_what_the_counter_is) {
  CountingCounter counter;
  const LiveInstruments instruments(counter);
  EXPECT_EQ(&instruments.counter(), &counter.describe());
}

TEST(LiveInstruments, sleeps_at_least_as_long_as_asked) {
  CountingCounter counter;
  LiveInstruments instruments(counter);
  const Clock::time_point begin = Clock::now();
  instruments.sleep_for(5ms);
  EXPECT_GE(Clock::now() - begin, 5ms);
}

}  // namespace
}  // namespace joulegrid
