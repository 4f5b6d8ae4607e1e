#pragma once

#include <cstdint>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/search/nest_draft.h"
#include "joulegrid/search/nest_moves.h"

namespace joulegrid {

/// One chain of simulated annealing: so many random changes, each priced with even reads (even_reads.h) and taken if it is
/// cheaper, or dearer by no more than the temperature times a random number. The temperature is relative to the price; it
/// falls from `hottest` to nothing.
struct AnnealingPlan {
  std::uint64_t evaluations = 0;
  double hottest = 0.03;
  const Stop* stop = nullptr;
};

/// The cheapest drafts that a chain has seen.
struct Annealed {
  std::vector<NestDraft> drafts;
  double steps = 0;
  bool complete = true;  ///< false: stopped early
};

/// Anneals the nest of one GEMM.
Annealed anneal_gemm(const NestDraft& start, const AnnealingPlan& plan, Random& random);

/// Anneals one nest of an epoch, the others as `drafts` has them, beginning with `start`. The best is no dearer than `drafts`.
Annealed anneal_nest(const Epoch& epoch, const std::vector<NestDraft>& drafts, std::size_t nest, const NestDraft& start,
                     const AnnealingPlan& plan, Random& random);

/// Anneals the nests of an epoch together, one for each call group and layer.
Annealed anneal_epoch(const Epoch& epoch, const std::vector<NestDraft>& start, const AnnealingPlan& plan, Random& random);

}  // namespace joulegrid
