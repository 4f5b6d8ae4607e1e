#include "joulegrid/workload/cpu/mlp_kernel.h"

// Highway compiles what follows once for every instruction set, see joulegrid/ir/run_block.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "joulegrid/workload/cpu/mlp_kernel.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "joulegrid/workload/mlp_epilogue.h"

HWY_BEFORE_NAMESPACE();
namespace joulegrid::HWY_NAMESPACE {

constexpr std::size_t block_outputs = mlp_width_unit;
constexpr std::size_t step_inputs = 4;                           // of mlp_packed_index
constexpr std::size_t step_bytes = block_outputs * step_inputs;  // of a block

/// One call of the kernel: see run_mlp_rows.
struct Rows {
  const std::uint8_t* in;
  std::size_t in_stride;
  std::size_t rows;
  std::uint8_t* out;
  std::size_t out_stride;

  Rows from(std::size_t row) const { return {in + row * in_stride, in_stride, rows - row, out + row * out_stride, out_stride}; }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::CappedTag<std::int32_t, block_outputs>;
using IntVector = hn::Vec<Ints>;
constexpr std::size_t lanes = HWY_MIN(HWY_LANES(std::int32_t), block_outputs);
constexpr std::size_t block_vectors = block_outputs / lanes;

// Tiles of sums are tile_rows × tile_blocks blocks: as many as the registers hold beside a weight for each column, an input
// and what products need.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t vnni_tile_rows = 14;
constexpr std::size_t tile_rows = 12;
constexpr std::size_t tile_blocks = 2;
#elif HWY_TARGET <= HWY_AVX2
constexpr std::size_t tile_rows = 4;
constexpr std::size_t tile_blocks = 1;
#else
constexpr std::size_t tile_rows = 2;
constexpr std::size_t tile_blocks = 1;
#endif

HWY_INLINE IntVector broadcast_step(const std::uint8_t* in) {
  std::int32_t four = 0;
  std::memcpy(&four, in, sizeof four);
  return hn::Set(Ints(), four);
}

/// Four products' sum in 16-bit pairs, which would saturate above 2 · 128 · 128 in magnitude.
HWY_INLINE IntVector products(IntVector inputs, IntVector weights) {
#if HWY_TARGET <= HWY_AVX3
  return IntVector{_mm512_madd_epi16(_mm512_maddubs_epi16(inputs.raw, weights.raw), _mm512_set1_epi16(1))};
#elif HWY_TARGET <= HWY_AVX2
  return IntVector{_mm256_madd_epi16(_mm256_maddubs_epi16(inputs.raw, weights.raw), _mm256_set1_epi16(1))};
#else
  return IntVector{_mm_madd_epi16(_mm_maddubs_epi16(inputs.raw, weights.raw), _mm_set1_epi16(1))};
#endif
}

// Ways to add to each lane's sum the four products of its bytes, and the rows of their tiles.

struct Pairs {
  static constexpr std::size_t rows = tile_rows;
  static HWY_INLINE IntVector add(IntVector sum, IntVector inputs, IntVector weights) {
    return hn::Add(sum, products(inputs, weights));
  }
};
/// For inputs up to 255: the sum of two halves up to 128, of which no pair saturates, -128 · 128 · 2 = -2^15.
struct WidePairs {
  static constexpr std::size_t rows = tile_rows;
  static HWY_INLINE IntVector add(IntVector sum, IntVector inputs, IntVector weights) {
    const IntVector lower = hn::And(hn::ShiftRight<1>(inputs), hn::Set(Ints(), 0x7F7F'7F7F));
    const IntVector upper = hn::Sub(inputs, lower);  // no byte borrows from another
    return hn::Add(hn::Add(sum, products(lower, weights)), products(upper, weights));
  }
};
#if HWY_TARGET <= HWY_AVX3
/// One instruction, in which nothing saturates, not even for inputs up to 255. Highway's target that has it (AVX3_DL) also
/// lets the compiler use AVX-VNNI, which processors with AVX-512 VNNI may lack; hence as text.
struct Vnni {
  static constexpr std::size_t rows = vnni_tile_rows;
  static HWY_INLINE IntVector add(IntVector sum, IntVector inputs, IntVector weights) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(inputs.raw), "v"(weights.raw));
    return sum;
  }
};
#endif

/// A tile of row_count rows and block_count blocks from block `first` on.
template <class Products, std::size_t row_count, std::size_t block_count>
HWY_INLINE void run_tile(const PackedMlpLayer& layer, const Rows& rows, std::size_t first) {
  constexpr std::size_t vectors = block_count * block_vectors;
  const Ints d;
  IntVector sums[row_count][vectors];
#pragma GCC unroll 64
  for (std::size_t v = 0; v < vectors; ++v) {
    const IntVector start = hn::Load(d, layer.starts + first * block_outputs + v * lanes);
#pragma GCC unroll 64
    for (std::size_t m = 0; m < row_count; ++m) sums[m][v] = start;
  }
  const std::size_t block_bytes = layer.inputs * block_outputs;
  const std::int8_t* weights = layer.weights + first * block_bytes;
  const std::uint8_t* in = rows.in;
  for (std::size_t k = 0; k < layer.inputs; k += step_inputs) {
    IntVector weight[vectors];
#pragma GCC unroll 64
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::int8_t* const at = weights + v / block_vectors * block_bytes + v % block_vectors * lanes * step_inputs;
      weight[v] = hn::BitCast(d, hn::Load(hn::Repartition<std::int8_t, Ints>(), at));
    }
#pragma GCC unroll 64
    for (std::size_t m = 0; m < row_count; ++m) {
      const IntVector input = broadcast_step(in + m * rows.in_stride);
#pragma GCC unroll 64
      for (std::size_t v = 0; v < vectors; ++v) sums[m][v] = Products::add(sums[m][v], input, weight[v]);
    }
    weights += step_bytes;
    in += step_inputs;
  }
  // The epilogue, mlp_epilogue of every lane: the conversion to INT8 saturates.
  const hn::Rebind<std::int8_t, Ints> d8;
#pragma GCC unroll 64
  for (std::size_t m = 0; m < row_count; ++m) {
#pragma GCC unroll 64
    for (std::size_t v = 0; v < vectors; ++v) {
      const IntVector positive = hn::Max(sums[m][v], hn::Zero(d));
      auto* const to = reinterpret_cast<std::int8_t*>(rows.out + m * rows.out_stride + first * block_outputs + v * lanes);
      hn::StoreU(hn::DemoteTo(d8, hn::ShiftRightSame(positive, layer.shift)), d8, to);
    }
  }
}

/// The rows that are left after whole tiles, of which there are fewer than row_count.
template <class Products, std::size_t row_count, std::size_t block_count>
HWY_NOINLINE void run_rest(const PackedMlpLayer& layer, const Rows& rows, std::size_t first) {
  if constexpr (row_count > 1) {
    if (rows.rows < row_count) return run_rest<Products, row_count - 1, block_count>(layer, rows, first);
  }
  run_tile<Products, row_count, block_count>(layer, rows, first);
}

/// All rows, split as evenly as possible into tiles of at most Products::rows: 16 rows are two tiles of 8, not 14 and 2.
template <class Products, std::size_t block_count>
HWY_INLINE void run_blocks(const PackedMlpLayer& layer, const Rows& rows, std::size_t first) {
  const std::size_t tiles = (rows.rows + Products::rows - 1) / Products::rows;
  std::size_t row = 0;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t end = rows.rows * (tile + 1) / tiles;
    Rows some = rows.from(row);
    some.rows = end - row;
    run_rest<Products, Products::rows, block_count>(layer, some, first);
    row = end;
  }
}

template <class Products>
HWY_INLINE void run_products(const PackedMlpLayer& layer, const Rows& rows, std::size_t first, std::size_t last) {
  std::size_t block = first;
  for (; block + tile_blocks <= last; block += tile_blocks) run_blocks<Products, tile_blocks>(layer, rows, block);
  if constexpr (tile_blocks > 1) {
    for (; block < last; ++block) run_blocks<Products, 1>(layer, rows, block);
  }
}

void run_rows(const PackedMlpLayer& layer, const Rows& rows, std::size_t first, std::size_t last) {
#if HWY_TARGET <= HWY_AVX3
  if (layer.vnni) return run_products<Vnni>(layer, rows, first, last);
#endif
  if (layer.wide) return run_products<WidePairs>(layer, rows, first, last);
  run_products<Pairs>(layer, rows, first, last);
}

#else  // any other instructions: loops that the compiler makes vectors of

constexpr std::size_t tile_rows = 1;

void run_rows(const PackedMlpLayer& layer, const Rows& rows, std::size_t first, std::size_t last) {
  for (std::size_t block = first; block < last; ++block) {
    for (std::size_t m = 0; m < rows.rows; ++m) {
      std::uint32_t sums[block_outputs];  // they wrap, as the starts do
      for (std::size_t n = 0; n < block_outputs; ++n) {
        sums[n] = static_cast<std::uint32_t>(layer.starts[block * block_outputs + n]);
      }
      const std::uint8_t* const in = rows.in + m * rows.in_stride;
      const std::int8_t* weights = layer.weights + block * layer.inputs * block_outputs;
      for (std::size_t k = 0; k < layer.inputs; k += step_inputs, weights += step_bytes) {
        for (std::size_t n = 0; n < block_outputs; ++n) {
          int sum = 0;
          for (std::size_t j = 0; j < step_inputs; ++j) sum += in[k + j] * weights[n * step_inputs + j];
          sums[n] += static_cast<std::uint32_t>(sum);
        }
      }
      std::uint8_t* const out = rows.out + m * rows.out_stride + block * block_outputs;
      for (std::size_t n = 0; n < block_outputs; ++n) {
        out[n] = static_cast<std::uint8_t>(mlp_epilogue(static_cast<std::int32_t>(sums[n]), layer.shift));
      }
    }
  }
}

#endif

void run_layer_rows(const PackedMlpLayer& layer, const std::uint8_t* in, std::size_t in_stride, std::size_t row_count,
                    std::size_t first, std::size_t last, std::uint8_t* out, std::size_t out_stride) {
  const Rows rows{in, in_stride, row_count, out, out_stride};
  run_rows(layer, rows, first, last);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
bool target_has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0; }
std::size_t target_tile_rows(bool vnni) { return vnni ? vnni_tile_rows : tile_rows; }
#else
bool target_has_vnni() { return false; }
std::size_t target_tile_rows(bool /*vnni*/) { return tile_rows; }
#endif
const char* target_name(bool vnni) { return vnni ? "AVX3 with VNNI" : hwy::TargetName(HWY_TARGET); }

}  // namespace joulegrid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace joulegrid {

HWY_EXPORT(run_layer_rows);
HWY_EXPORT(target_has_vnni);
HWY_EXPORT(target_tile_rows);
HWY_EXPORT(target_name);

void run_mlp_rows(const PackedMlpLayer& layer, const std::uint8_t* in, std::size_t in_stride, std::size_t rows,
                  std::size_t first, std::size_t last, std::uint8_t* out, std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(run_layer_rows)(layer, in, in_stride, rows, first, last, out, out_stride);
}
bool mlp_has_vnni() { return HWY_DYNAMIC_DISPATCH(target_has_vnni)(); }
std::size_t mlp_tile_rows(bool vnni) { return HWY_DYNAMIC_DISPATCH(target_tile_rows)(vnni); }
const char* mlp_instruction_set(bool vnni) { return HWY_DYNAMIC_DISPATCH(target_name)(vnni); }

}  // namespace joulegrid
#endif
