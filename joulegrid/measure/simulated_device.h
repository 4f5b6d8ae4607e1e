#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "joulegrid/base/random.h"
#include "joulegrid/measure/instruments.h"

namespace joulegrid {

/// What a simulated device is like. Powers in watts, times in seconds.
struct SimulatedDeviceFacts {
  double idle_w = 60;
  double load_w = 300;
  double repetition_s = 0.003;
  double ramp_s = 0.05;          ///< time constant with which power follows the work, up and down
  double tick_s = 0.02;          ///< between two updates of the counter
  double tick_jitter = 0.02;     ///< standard deviation of a tick, relative
  double noise = 0.02;           ///< standard deviation of the energy of one tick, relative
  double drift_w = 0;            ///< power, idle or not, rises by so much in the end ...
  double drift_s = 60;           ///< ... with this time constant
  std::uint64_t step_uj = 1000;  ///< the counter's resolution
};

/// A device with a known true energy, in virtual time: its work draws (load - idle) for as long as it lasts, no more and no
/// less, whatever ramp, drift, ticks, quantisation and noise make of it. For tests and for bench/coverage.
class SimulatedDevice final : public Instruments {
 public:
  SimulatedDevice(const SimulatedDeviceFacts& facts, std::uint64_t seed) : facts_(facts), random_(seed) {
    description_.kind = CounterKind::nvml;
    description_.name = "simulated";
    description_.scope = CounterScope::gpu_board;
    description_.unit = std::to_string(facts.step_uj) + " µJ";
    next_tick_ = facts_.tick_s * random_.uniform();
    advance_to(10 * random_.uniform());  // somewhere between two ticks
  }

  /// Joules above idle of one repetition: known before anything is measured.
  double truth() const { return (facts_.load_w - facts_.idle_w) * facts_.repetition_s; }

  const CounterDescription& counter() const override { return description_; }

  Measured<Reading> read() override {
    const double took = 20e-6 + 40e-6 * random_.uniform();
    const double begin = now_;
    advance_to(now_ + took);
    Reading reading{latched_, instant(begin + took / 2), duration(took)};
    return change_reading ? change_reading(reading) : Measured<Reading>(reading);
  }

  void sleep_for(std::chrono::nanoseconds time) override {
    advance_to(now_ + std::chrono::duration<double>(time).count() + 80e-6 * random_.uniform());
  }

  Aggregate run(Stage& stage, std::uint64_t repetitions) override {
    Aggregate aggregate;
    aggregate.begin = instant(now_);
    advance_to(now_ + 20e-6 * random_.uniform());
    work(static_cast<double>(repetitions) * facts_.repetition_s);
    advance_to(now_ + 20e-6 * random_.uniform());
    stage.enqueue(repetitions);
    aggregate.fault = stage.synchronise();
    aggregate.end = instant(now_);
    aggregate.details = stage.details();
    return aggregate;
  }

  void start_sampling(std::chrono::nanoseconds interval) override {
    sampling_s_ = std::chrono::duration<double>(interval).count();
    next_sample_ = now_;
  }
  void stop_sampling() override { sampling_s_ = 0; }
  std::vector<TelemetrySample> take_samples() override { return std::exchange(samples_, {}); }

  double now() const { return now_; }

  std::function<Measured<Reading>(const Reading&)> change_reading;  ///< for faults
  std::function<void(TelemetrySample&)> change_sample;              ///< for what a test wants to show

 private:
  static std::chrono::nanoseconds duration(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
  }
  static TimeSource::Instant instant(double seconds) { return TimeSource::Instant(duration(seconds)); }

  double gauss() {
    return std::sqrt(-2 * std::log(1 - random_.uniform())) * std::cos(2 * std::numbers::pi * random_.uniform());
  }

  double base_w(double at) const { return facts_.idle_w + facts_.drift_w * (1 - std::exp(-at / facts_.drift_s)); }

  void work(double seconds) {
    target_w_ = facts_.load_w - facts_.idle_w;
    advance_to(now_ + seconds);
    target_w_ = 0;
  }

  /// Energy of the time up to `to`, within which the target does not change; exact but for the drift's curvature.
  double step(double to) {
    const double time = to - now_;
    double joules = base_w(now_ + time / 2) * time + target_w_ * time;
    const double above = excess_w_ - target_w_;
    if (facts_.ramp_s > 0) {
      const double kept = std::exp(-time / facts_.ramp_s);
      joules += above * facts_.ramp_s * (1 - kept);
      excess_w_ = target_w_ + above * kept;
    } else {
      excess_w_ = target_w_;
    }
    now_ = to;
    return joules;
  }

  void advance_to(double to) {
    for (;;) {
      const bool samples = sampling_s_ > 0 && next_sample_ < next_tick_ && next_sample_ <= to;
      if (samples) {
        of_tick_ += step(next_sample_);
        sample();
        next_sample_ += sampling_s_;
      } else if (next_tick_ <= to) {
        of_tick_ += step(next_tick_);
        counted_j_ += of_tick_ * (1 + facts_.noise * gauss());
        of_tick_ = 0;
        const auto steps = static_cast<Wide>(counted_j_ * 1e6 / static_cast<double>(facts_.step_uj));
        latched_ = Microjoules(std::max(latched_.count(), steps * facts_.step_uj));
        next_tick_ += facts_.tick_s * std::max(0.2, 1 + facts_.tick_jitter * gauss());
      } else {
        of_tick_ += step(to);
        return;
      }
    }
  }

  void sample() {
    TelemetrySample sample = TelemetrySample::missing(instant(now_), {FaultKind::not_supported, "not simulated"});
    sample.power_mw = static_cast<std::uint64_t>(1000 * (base_w(now_) + excess_w_));
    sample.temperature_c = std::int64_t{40};
    sample.sm_clock_mhz = std::uint64_t{1410};
    sample.clock_events = ClockEvents{};
    sample.processes = std::vector<ComputeProcess>{{100, 0}};
    sample.counter = Reading{latched_, instant(now_), {}};
    if (change_sample) change_sample(sample);
    samples_.push_back(std::move(sample));
  }

  SimulatedDeviceFacts facts_;
  SplitMix64 random_;
  CounterDescription description_;
  double now_ = 0;
  double target_w_ = 0;  ///< above idle
  double excess_w_ = 0;  ///< above idle, on its way to the target
  double next_tick_ = 0;
  double of_tick_ = 0;
  double counted_j_ = 0;
  Microjoules latched_;
  double sampling_s_ = 0;
  double next_sample_ = 0;
  std::vector<TelemetrySample> samples_;
};

}  // namespace joulegrid
