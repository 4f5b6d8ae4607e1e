#include "joulegrid/workload/busy_loop.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

class BusyLoop final : public Stage {
 public:
  BusyLoop(std::string name, unsigned threads) : name_(std::move(name)), threads_(threads) {}

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { pending_ += repetitions; }

  std::optional<Fault> synchronise() override {
    const std::uint64_t operations = std::exchange(pending_, 0) * busy_loop_operations;
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads_; ++i) others.emplace_back([this, operations, i] { work(operations, i); });
    work(operations, 0);
    return std::nullopt;
  }

 private:
  void work(std::uint64_t operations, std::uint64_t value) {
    for (std::uint64_t i = 0; i < operations; ++i) value = value * 0x5851'F42D'4C95'7F2DU + 1;
    result_.fetch_xor(value, std::memory_order_relaxed);  // so that nobody finds the loop useless
  }

  std::string name_;
  unsigned threads_;
  std::uint64_t pending_ = 0;
  std::atomic<std::uint64_t> result_{0};
};

}  // namespace

std::unique_ptr<Stage> make_busy_loop(std::string name, unsigned threads) {
  check(threads > 0, "a busy loop has a thread");
  return std::make_unique<BusyLoop>(std::move(name), threads);
}

}  // namespace joulegrid
