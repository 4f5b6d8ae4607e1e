#pragma once

#include <chrono>

namespace joulegrid {

/// Time and waiting as everything that measures sees them; tests put a virtual one in place.
class TimeSource {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~TimeSource() = default;

  /// The instant now; never earlier than one it gave before.
  virtual Instant now() = 0;

  /// Returns after about `duration`, never earlier.
  virtual void sleep_for(std::chrono::nanoseconds duration) = 0;
};

/// The machine's steady clock. May be used by several threads at a time.
TimeSource& steady_time();

}  // namespace joulegrid
