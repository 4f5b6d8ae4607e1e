#include "joulegrid/counter/time_source.h"

#include <thread>

namespace joulegrid {

namespace {

class SteadyTime final : public TimeSource {
 public:
  Instant now() override { return std::chrono::steady_clock::now(); }
  void sleep_for(std::chrono::nanoseconds duration) override { std::this_thread::sleep_for(duration); }
};

}  // namespace

TimeSource& steady_time() {
  static SteadyTime time;
  return time;
}

}  // namespace joulegrid
