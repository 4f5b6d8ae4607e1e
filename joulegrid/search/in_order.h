#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "joulegrid/base/stop.h"

namespace joulegrid {

/// Runs task(0) to task(count − 1) on several threads. They are begun in order; none is begun once `stop` asks to end. A task
/// says whether it came to its end. Returns how many tasks from the first one on did, without a gap. Throws what a task throws.
template <typename Task>
std::size_t run_in_order(std::size_t count, unsigned threads, const Stop* stop, const Task& task) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> first_undone{count};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto undone = [&](std::size_t index) {
    std::size_t known = first_undone.load();
    while (index < known && !first_undone.compare_exchange_weak(known, index)) {
    }
  };
  const auto work = [&] {
    while (first_undone.load() == count) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count) return;
      if (stop != nullptr && stop->requested()) return undone(index);
      try {
        if (!task(index)) undone(index);
      } catch (...) {
        undone(index);
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t workers = std::min<std::size_t>(std::max(threads, 1U), count);
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return first_undone.load();
}

}  // namespace joulegrid
