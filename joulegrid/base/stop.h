#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace joulegrid {

/// Asks long work to end early and hand over what it has. `request` may be called from a signal handler or another thread.
class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  /// Asks by itself once `deadline` has passed. Not while work is going on that polls it.
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }

  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }

  /// Somebody called `request`.
  bool interrupted() const noexcept { return requested_.load(std::memory_order_relaxed); }

  /// The work should end now.
  bool requested() const { return interrupted() || (deadline_ && Clock::now() >= *deadline_); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");
  std::atomic<bool> requested_{false};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace joulegrid
