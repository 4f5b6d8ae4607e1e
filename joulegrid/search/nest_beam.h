#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/search/nest_draft.h"

namespace joulegrid {

/// How wide a beam is, and what ends it early.
struct BeamPlan {
  std::size_t width = 1;               ///< nests that are kept for each block
  std::uint64_t most_evaluations = 0;  ///< given up when it needs more
  bool through = true;
  bool reflected = true;
  const Stop* stop = nullptr;
};

/// Nests of a GEMM that a beam search ends with.
struct BeamFound {
  std::vector<NestDraft> drafts;  ///< cheapest first, at most eight; none where the search was given up or stopped
  double steps = 0;               ///< of the first, with even reads
  std::uint64_t evaluations = 0;
  bool saturated = false;  ///< a wider beam finds the same
};

/// Builds nests from the innermost loop outward. A block is what the loops so far cover, from one product to the whole GEMM;
/// for each block the cheapest `width` nests are kept, priced as if it were a GEMM of its own. Each gets one more loop outside,
/// of one of the small factors that its block lacks, with any marks right inside it. Of nests of a block that cost the same one
/// is kept. Of nests of a block that cost the same one is kept.
BeamFound search_nest_beam(const Gemm& gemm, const BeamPlan& plan);

}  // namespace joulegrid
