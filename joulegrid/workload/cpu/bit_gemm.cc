#include "joulegrid/workload/cpu/bit_gemm.h"

// Highway compiles what follows once for every instruction set of the architecture, by including this file again, and picks
// the best one of the machine at run time. The one with an instruction that counts the bits of lanes has to be asked for; where
// the compiler does not know how long vectors are there are no arrays of them.
#undef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "joulegrid/workload/cpu/bit_gemm.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <vector>

#include "joulegrid/base/error.h"

#ifndef JOULEGRID_WORKLOAD_CPU_BIT_GEMM_ONCE
#define JOULEGRID_WORKLOAD_CPU_BIT_GEMM_ONCE
namespace joulegrid {

constexpr std::size_t panel_rows = 8;
constexpr std::size_t panel_columns = 32;

}  // namespace joulegrid
#endif

HWY_BEFORE_NAMESPACE();
namespace joulegrid::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A lane is a column: sums need no reduction across lanes, and leave the registers as they stand in C.
using Words = hn::CappedTag<std::uint32_t, panel_columns>;

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_SCALAR
#define JOULEGRID_COUNTS_LANES 1  // there is an instruction that counts the bits of a lane; else they are counted in bytes
#else
#define JOULEGRID_COUNTS_LANES 0
#endif

/// Vectors of columns in a tile: its sums, and what they are made of, fill the registers.
constexpr std::size_t most_vectors = HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 2 : 1;

/// The products of so many words of a panel of rows, [word][row], and of `vectors` vectors of columns, `b` being the first in a
/// panel's [word][column]. They go to 8 rows of `sums`, `stride` apart, or are added to what stands there.
template <std::size_t vectors>
HWY_INLINE void multiply_tile(const std::uint32_t* HWY_RESTRICT a, const std::uint32_t* HWY_RESTRICT b, std::size_t words,
                              std::int32_t* HWY_RESTRICT sums, std::size_t stride, bool add) {
  const Words d;
  const hn::RebindToSigned<Words> d_sum;
  using V = hn::Vec<Words>;
  const std::size_t lanes = hn::Lanes(d);
#if JOULEGRID_COUNTS_LANES
  const std::size_t most_words = words;
#else
  constexpr std::size_t most_words = 31;  // the counts of so many bytes fit a byte
  const hn::Repartition<std::uint8_t, Words> d_byte;
#endif
  for (std::size_t begin = 0; begin < words; begin += most_words) {
    const std::size_t end = std::min(words, begin + most_words);
    V counts[panel_rows][vectors];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < panel_rows; ++r) {
      HWY_UNROLL(2)
      for (std::size_t v = 0; v < vectors; ++v) counts[r][v] = hn::Zero(d);
    }
    for (std::size_t word = begin; word < end; ++word) {
      V columns[vectors];
      HWY_UNROLL(2)
      for (std::size_t v = 0; v < vectors; ++v) columns[v] = hn::Load(d, b + word * panel_columns + v * lanes);
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < panel_rows; ++r) {
        const V row = hn::Set(d, a[word * panel_rows + r]);
        HWY_UNROLL(2)
        for (std::size_t v = 0; v < vectors; ++v) {
          const V both = hn::And(row, columns[v]);
#if JOULEGRID_COUNTS_LANES
          counts[r][v] = hn::Add(counts[r][v], hn::PopulationCount(both));
#else
          const auto of_bytes = hn::PopulationCount(hn::BitCast(d_byte, both));
          counts[r][v] = hn::BitCast(d, hn::Add(hn::BitCast(d_byte, counts[r][v]), of_bytes));
#endif
        }
      }
    }
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < panel_rows; ++r) {
      HWY_UNROLL(2)
      for (std::size_t v = 0; v < vectors; ++v) {
        V count = counts[r][v];
#if !JOULEGRID_COUNTS_LANES
        const V bytes = hn::Set(d, 0x00FF'00FF);
        count = hn::Add(hn::And(count, bytes), hn::And(hn::ShiftRight<8>(count), bytes));
        count = hn::Add(hn::And(count, hn::Set(d, 0xFFFF)), hn::ShiftRight<16>(count));
#endif
        std::int32_t* const sum = sums + r * stride + v * lanes;
        if (add || begin > 0) count = hn::Add(count, hn::BitCast(d, hn::LoadU(d_sum, sum)));
        hn::StoreU(hn::BitCast(d_sum, count), d_sum, sum);
      }
    }
  }
}
#undef JOULEGRID_COUNTS_LANES

/// The products of so many words of a panel of rows and a panel of columns: those of the first `columns`, and maybe of more.
void multiply_panels(const std::uint32_t* a, const std::uint32_t* b, std::size_t words, std::size_t columns, std::int32_t* sums,
                     std::size_t stride, bool add) {
  const std::size_t lanes = hn::Lanes(Words());
  // C comes from memory, 8 rows far apart: it is on its way while the products are summed.
  for (std::size_t r = 0; r < panel_rows; ++r) {
    for (std::size_t j = 0; j < columns; j += 16) __builtin_prefetch(sums + r * stride + j);
  }
  std::size_t column = 0;
  for (; column + (most_vectors - 1) * lanes < columns; column += most_vectors * lanes) {
    multiply_tile<most_vectors>(a, b + column, words, sums + column, stride, add);
  }
  for (; column < columns; column += lanes) multiply_tile<1>(a, b + column, words, sums + column, stride, add);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace joulegrid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace joulegrid {

HWY_EXPORT(multiply_panels);
HWY_EXPORT(target_name);

namespace {

constexpr std::uint64_t bits_per_word = 32;
constexpr std::size_t task_rows = 128;
/// So many words of a panel of columns, 16 KiB, stay in the first-level cache while the rows of a task pass by.
constexpr std::size_t block_words = 128;

std::size_t divided_up(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

/// Lines of 64-bit words as panels of so many lines.
void pack(std::span<const std::uint64_t> lines, std::size_t count, std::size_t words, std::size_t panel,
          AlignedArray<std::uint32_t>& packed) {
  const std::size_t words_of_line = divided_up(words, 2);
  check(lines.size() == count * words_of_line, "an operand has its shape");
  for (std::size_t line = 0; line < count; ++line) {
    std::uint32_t* const to = packed.data() + line / panel * panel * words + line % panel;
    const std::uint64_t* const from = lines.data() + line * words_of_line;
    for (std::size_t word = 0; word < words; ++word) {
      to[word * panel] = static_cast<std::uint32_t>(from[word / 2] >> (word % 2 * bits_per_word));
    }
  }
}

}  // namespace

BitGemm::BitGemm(const GemmShape& shape, unsigned threads)
    : shape_(shape), team_(threads), words_((shape.k + bits_per_word - 1) / bits_per_word) {
  check(threads > 0 && shape.m > 0 && shape.n > 0 && shape.k > 0, "a product has a size and a thread");
  check(shape.k < std::uint64_t{1} << 31U, "a count of bits fits 32 bits");
  a_ = AlignedArray<std::uint32_t>(divided_up(shape.m, panel_rows) * panel_rows * words_);
  b_ = AlignedArray<std::uint32_t>(divided_up(shape.n, panel_columns) * panel_columns * words_);
}

void BitGemm::pack_a(std::span<const std::uint64_t> rows) { pack(rows, shape_.m, words_, panel_rows, a_); }
void BitGemm::pack_b(std::span<const std::uint64_t> columns) { pack(columns, shape_.n, words_, panel_columns, b_); }

void BitGemm::multiply(std::span<std::int32_t> c, std::uint64_t repetitions) {
  check(c.size() == shape_.m * shape_.n, "a product has its shape");
  const auto multiply_panels = HWY_DYNAMIC_DISPATCH(multiply_panels);
  const std::size_t panels_of_columns = divided_up(shape_.n, panel_columns);
  const std::size_t tasks = divided_up(shape_.m, task_rows) * panels_of_columns;

  const auto do_task = [&](std::size_t task) {
    // Along the rows of C, whose pages are few then.
    const std::size_t first_row = task / panels_of_columns * task_rows;
    const std::size_t first_column = task % panels_of_columns * panel_columns;
    const std::size_t end_row = std::min<std::size_t>(shape_.m, first_row + task_rows);
    const std::size_t columns = std::min<std::size_t>(shape_.n - first_column, panel_columns);
    for (std::size_t word = 0; word < words_; word += block_words) {
      const std::size_t words = std::min(words_ - word, block_words);
      const std::uint32_t* const b = b_.data() + first_column * words_ + word * panel_columns;
      for (std::size_t row = first_row; row < end_row; row += panel_rows) {
        const std::uint32_t* const a = a_.data() + row * words_ + word * panel_rows;
        std::int32_t* const to = c.data() + row * shape_.n + first_column;
        if (columns == panel_columns && row + panel_rows <= end_row) {
          multiply_panels(a, b, words, columns, to, shape_.n, word > 0);
          continue;
        }
        std::array<std::int32_t, panel_rows * panel_columns> sums;  // at the edges, where a tile is larger than what is left
        multiply_panels(a, b, words, columns, sums.data(), panel_columns, false);
        for (std::size_t r = 0; r < std::min(end_row - row, panel_rows); ++r) {
          for (std::size_t j = 0; j < columns; ++j) {
            const std::int32_t before = word > 0 ? to[r * shape_.n + j] : 0;
            to[r * shape_.n + j] = before + sums[r * panel_columns + j];
          }
        }
      }
    }
  };

  std::atomic<std::size_t> next{0};
  std::barrier all_done(team_.threads(), [&]() noexcept { next.store(0, std::memory_order_relaxed); });
  team_.run([&](unsigned /*thread*/) {
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      for (std::size_t task = 0; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) do_task(task);
      all_done.arrive_and_wait();
    }
  });
}

Wide BitGemm::bytes(const GemmShape& shape) {
  const Wide words = (Wide{shape.k} + bits_per_word - 1) / bits_per_word;
  const auto lines = [](std::uint64_t count, std::uint64_t panel) { return (Wide{count} + panel - 1) / panel * panel; };
  return (lines(shape.m, panel_rows) + lines(shape.n, panel_columns)) * words * sizeof(std::uint32_t);
}

std::string BitGemm::instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace joulegrid
#endif
