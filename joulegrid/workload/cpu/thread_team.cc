#include "joulegrid/workload/cpu/thread_team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(unsigned threads) : threads_(threads) {
  check(threads > 0, "a team has a thread");
  for (unsigned i = 1; i < threads; ++i) others_.emplace_back([this, i] { serve(i); });
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : others_) thread.join();
}

void ThreadTeam::run(const std::function<void(unsigned)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    busy_ = threads_ - 1;
    ++round_;
  }
  begin_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadTeam::serve(unsigned thread) {
  std::uint64_t seen = 0;
  for (;;) {
    const std::function<void(unsigned)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return end_ || round_ != seen; });
      if (end_) return;
      seen = round_;
      work = work_;
    }
    (*work)(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void SpinBarrier::wait() {
  constexpr unsigned spins_before_yield = 512;
  const std::uint64_t round = passed_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    passed_.store(round + 1, std::memory_order_release);
    return;
  }
  for (unsigned spins = 0; passed_.load(std::memory_order_acquire) == round; ++spins) {
    if (spins < spins_before_yield) {
      pause_briefly();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace joulegrid
