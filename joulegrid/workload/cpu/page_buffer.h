#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace joulegrid {

/// Zeroed memory for numbers, aligned to large pages, which the system is asked to use: kernels stream through megabytes.
template <typename Value>
class PageBuffer {
 public:
  PageBuffer() = default;
  explicit PageBuffer(std::size_t count) {
    constexpr std::size_t large_page = std::size_t{1} << 21U;
    if (count > (SIZE_MAX - large_page) / sizeof(Value)) throw std::bad_alloc();
    const std::size_t bytes = (count * sizeof(Value) + large_page - 1) / large_page * large_page;
    data_.reset(static_cast<Value*>(std::aligned_alloc(large_page, bytes)));
    if (!data_ && bytes > 0) throw std::bad_alloc();
    ::madvise(data_.get(), bytes, MADV_HUGEPAGE);  // without it everything works too
    if (bytes > 0) std::memset(data_.get(), 0, bytes);
  }

  Value* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(Value* data) const { std::free(data); }
  };
  std::unique_ptr<Value[], Free> data_;
};

}  // namespace joulegrid
