#pragma once

#include <variant>

#include "joulegrid/network/epoch.h"
#include "joulegrid/network/gemm.h"

namespace joulegrid {

/// What a schedule is for: one matrix product, or an inference epoch.
using Problem = std::variant<Gemm, Epoch>;

/// The problem as an epoch; a GEMM is one of a single layer and call.
inline Epoch as_epoch(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return Epoch::of(*gemm);
  return std::get<Epoch>(problem);
}

}  // namespace joulegrid
