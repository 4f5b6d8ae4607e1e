#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace joulegrid {

/// A fixed number of plain values that begin at a page, all zero.
template <typename T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t small_page = 4096;
  static constexpr std::size_t large_page = std::size_t{1} << 21U;

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size) : size_(size) {
    if (size > (SIZE_MAX - large_page) / sizeof(T)) throw std::bad_alloc();
    // Where there are large pages, large arrays want them: rows of a matrix that lie far apart need fewer translations.
    const std::size_t page = size * sizeof(T) < large_page ? small_page : large_page;
    const std::size_t bytes = (size * sizeof(T) + page - 1) / page * page;
    if (size > 0) values_.reset(static_cast<T*>(std::aligned_alloc(page, bytes)));
    if (size > 0 && values_ == nullptr) throw std::bad_alloc();
    if (page == large_page) ::madvise(values_.get(), bytes, MADV_HUGEPAGE);  // a wish: it may fail
    for (std::size_t i = 0; i < size; ++i) ::new (values_.get() + i) T{};
  }

  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }
  T& operator[](std::size_t i) { return values_.get()[i]; }
  const T& operator[](std::size_t i) const { return values_.get()[i]; }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
  std::size_t size_ = 0;
};

}  // namespace joulegrid
