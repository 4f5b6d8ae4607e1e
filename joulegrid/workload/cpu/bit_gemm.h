#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "joulegrid/workload/cpu/aligned_array.h"
#include "joulegrid/workload/cpu/thread_team.h"
#include "joulegrid/workload/gemm_values.h"

namespace joulegrid {

/// The product of two matrices of bits: C[i][j] = number of k with A[i][k] = B[k][j] = 1.
///
/// The operands are given packed along K, A by rows and B by columns: bit k of a line is bit k % 64 of its word k / 64, a line
/// begins with a new word, and bits beyond K are zero. They are kept in the order in which the kernel reads them, so that a
/// product only multiplies. K is less than 2^31.
class BitGemm {
 public:
  BitGemm(const GemmShape& shape, unsigned threads);

  void pack_a(std::span<const std::uint64_t> rows);
  void pack_b(std::span<const std::uint64_t> columns);

  /// So many products, one after the other, each by all threads; `c` is row-major, m · n.
  void multiply(std::span<std::int32_t> c, std::uint64_t repetitions);

  /// Bytes that one of this shape keeps.
  static Wide bytes(const GemmShape& shape);
  /// What the kernel is made of on this machine: "AVX3_DL".
  static std::string instruction_set();

 private:
  GemmShape shape_;
  ThreadTeam team_;
  std::size_t words_;              ///< 32-bit words along K
  AlignedArray<std::uint32_t> a_;  ///< [panel of 8 rows][word][row]
  AlignedArray<std::uint32_t> b_;  ///< [panel of 32 columns][word][column]
};

}  // namespace joulegrid
