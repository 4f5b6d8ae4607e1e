#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace joulegrid {

/// Threads that work together again and again, and sleep in between: an idle team uses no processor time.
class ThreadTeam {
 public:
  /// The calling thread of `run` is one of the `threads` > 0.
  explicit ThreadTeam(unsigned threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  unsigned threads() const { return threads_; }

  /// Calls work(0) … work(threads - 1), each on a thread of its own, and returns when all have. The work must not throw; one
  /// caller at a time.
  void run(const std::function<void(unsigned)>& work);

 private:
  void serve(unsigned thread);

  unsigned threads_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::uint64_t round_ = 0;  ///< calls of run
  unsigned busy_ = 0;        ///< others at work
  bool end_ = false;
  std::vector<std::thread> others_;
};

/// Where the threads of a team wait for each other many thousand times a second: they spin, and after a while let others of
/// the machine run.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned threads) : threads_(threads) {}

  /// Returns when all threads are here. What they wrote before is seen by all after it.
  void wait();

 private:
  static constexpr std::size_t cache_line = 64;

  unsigned threads_;
  alignas(cache_line) std::atomic<unsigned> arrived_{0};
  alignas(cache_line) std::atomic<std::uint64_t> passed_{0};
};

}  // namespace joulegrid
