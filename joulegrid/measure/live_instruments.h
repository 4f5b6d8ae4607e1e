#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "joulegrid/measure/instruments.h"

namespace joulegrid {

/// The machine's own clock, counter and stages; samples are taken by a thread that ends with stop_sampling or the object. Each
/// sample comes with a reading of the counter, so that a counter that wraps is read often enough whatever else goes on.
class LiveInstruments final : public Instruments {
 public:
  /// Both outlive it.
  explicit LiveInstruments(EnergyCounter& counter, TimeSource& time = steady_time()) : counter_(counter), time_(time) {}
  ~LiveInstruments() override { LiveInstruments::stop_sampling(); }
  LiveInstruments(const LiveInstruments&) = delete;
  LiveInstruments& operator=(const LiveInstruments&) = delete;

  const CounterDescription& counter() const override { return counter_.describe(); }
  Measured<Reading> read() override;
  void sleep_for(std::chrono::nanoseconds duration) override { time_.sleep_for(duration); }
  Aggregate run(Stage& stage, std::uint64_t repetitions) override;
  void start_sampling(std::chrono::nanoseconds interval) override;
  void stop_sampling() override;
  std::vector<TelemetrySample> take_samples() override;

 private:
  void sample_until_stopped(std::chrono::nanoseconds interval);

  EnergyCounter& counter_;
  TimeSource& time_;
  std::mutex reading_;  ///< held while the counter is read: `read` is for one thread at a time
  std::mutex samples_mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::vector<TelemetrySample> samples_;
  std::thread sampler_;
};

}  // namespace joulegrid
