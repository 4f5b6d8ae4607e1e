#include "joulegrid/measure/live_instruments.h"

#include <algorithm>
#include <utility>

#include "joulegrid/measure/processor_time.h"

namespace joulegrid {

Measured<Reading> LiveInstruments::read() {
  const std::lock_guard lock(reading_);
  return counter_.read();
}

Aggregate LiveInstruments::run(Stage& stage, std::uint64_t repetitions) {
  Aggregate aggregate;
  aggregate.begin = time_.now();
  stage.enqueue(repetitions);
  aggregate.fault = stage.synchronise();
  aggregate.end = time_.now();
  aggregate.details = stage.details();
  return aggregate;
}

void LiveInstruments::start_sampling(std::chrono::nanoseconds interval) {
  check(!sampler_.joinable(), "samples are taken by one thread");
  check(interval.count() > 0, "samples are some time apart");
  stopped_ = false;
  sampler_ = std::thread([this, interval] { sample_until_stopped(interval); });
}

void LiveInstruments::stop_sampling() {
  if (!sampler_.joinable()) return;
  {
    const std::lock_guard lock(samples_mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  sampler_.join();
}

std::vector<TelemetrySample> LiveInstruments::take_samples() {
  const std::lock_guard lock(samples_mutex_);
  return std::exchange(samples_, {});
}

void LiveInstruments::sample_until_stopped(std::chrono::nanoseconds interval) {
  // Instants of a fixed grid: a sample that took long delays none of the later ones.
  TimeSource::Instant next = std::chrono::steady_clock::now();
  for (;;) {
    TelemetrySample sample = counter_.telemetry();
    sample.counter = read();
    sample.busy_us = busy_microseconds();
    sample.own_us = own_microseconds();
    std::unique_lock lock(samples_mutex_);
    samples_.push_back(std::move(sample));
    const std::chrono::nanoseconds behind = std::chrono::steady_clock::now() - next;
    next += interval * (std::max(behind, {}) / interval + 1);
    if (stopping_.wait_until(lock, next, [&] { return stopped_; })) return;
  }
}

}  // namespace joulegrid
