#pragma once

#include <cstdint>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// C[m×n] = A[m×k] · B[k×n].
struct Gemm {
  std::uint64_t m = 1;
  std::uint64_t k = 1;
  std::uint64_t n = 1;

  /// Multiply-accumulates: m·k·n.
  Wide macs() const { return checked_mul(checked_mul(m, k), n); }

  bool operator==(const Gemm&) const = default;
};

}  // namespace joulegrid
