#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// C (m x n) = A (m x k) · B (k x n).
struct GemmShape {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  Wide mac() const { return checked_mul(checked_mul(m, k), n); }
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// The nearest one, ties to even; no NaN.
BFloat16 to_bfloat16(float value);
float to_float(BFloat16 value);

/// What the operands of a product hold: input values change a processor's power.
///
/// | | fp32, bf16 (rounded to nearest) | int8 | bits |
/// |---|---|---|---|
/// | uniform | (2 r + 1) / 2^23 − 1, r in 0..2^23 − 1: in (−1, 1), never 0 | −128..127 | 0, 1 |
/// | normal | standard deviation 1 | standard deviation 32, rounded, cut to −128..127 | signs, so 0, 1 |
/// | zeros, ones | 0, 1 | 0, 1 | 0, 1 |
/// | sparse:P | 0 with probability P, else as uniform | 0 with P, else −128..127 but 0 | 0 with P, else 1 |
///
/// A value depends on the seed, the operand and its place alone: two numbers of SplitMix64 belong to each place (for uniform
/// and normal bits: one to each 64), whose streams for A and B begin at the first and second number after the seed.
struct GemmValues {
  enum class Kind { uniform, normal, zeros, ones, sparse };

  Kind kind = Kind::uniform;
  double zero_share = 0;  ///< of sparse, in [0, 1]
  std::uint64_t seed = 0;

  friend bool operator==(const GemmValues&, const GemmValues&) = default;
};

/// "uniform", "normal", "zeros", "ones", "sparse:0.9"; throws Error(bad_input, where).
GemmValues parse_gemm_values(const std::string& text, std::uint64_t seed, const std::string& where);
/// The text that gives the same.
std::string to_string(const GemmValues& values);

enum class GemmOperand { a, b };

// Fill an operand, row-major, on so many threads.
void fill(std::span<float> out, const GemmValues& values, GemmOperand operand, unsigned threads);
void fill(std::span<BFloat16> out, const GemmValues& values, GemmOperand operand, unsigned threads);
void fill(std::span<std::int8_t> out, const GemmValues& values, GemmOperand operand, unsigned threads);
/// Lines of `bits` bits packed in 64-bit words, a line beginning with a new one; those past a line's end are zero.
void fill_bits(std::span<std::uint64_t> out, std::uint64_t bits, const GemmValues& values, GemmOperand operand,
               unsigned threads);

}  // namespace joulegrid
