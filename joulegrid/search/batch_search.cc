#include "joulegrid/search/batch_search.h"

#include <algorithm>
#include <optional>

#include "joulegrid/base/error.h"
#include "joulegrid/search/cheapest_tile.h"

namespace joulegrid {

std::vector<std::uint64_t> batch_candidates(std::uint64_t examples) {
  const TileSizes divisors(examples, Candidates::divisors);
  std::vector<std::uint64_t> batches;
  for (std::size_t i = 0; i < divisors.count(); ++i) batches.push_back(divisors[i]);
  for (std::uint64_t power = 1; power < examples; power *= 2) batches.push_back(power);
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

BatchFound search_batches(const std::vector<std::uint64_t>& widths, std::uint64_t examples,
                          const std::vector<std::uint64_t>& batches, SaCacheSearchOptions options,
                          const std::function<void(const std::string& batch, const DescentProgress&)>& progress) {
  check(!batches.empty(), "at least one batch to search");
  std::optional<BatchFound> best;
  std::uint64_t evaluations = 0;
  bool complete = true;
  for (const std::uint64_t batch : batches) {
    if (best && options.stop != nullptr && options.stop->requested()) {
      complete = false;
      break;
    }
    const Epoch epoch(widths, examples, batch);
    if (progress) {
      options.progress = [&](DescentProgress at) {
        if (best) at.best = std::min(at.best, best->found.steps);
        progress(to_string(batch), at);
      };
    }
    EpochTilesFound found;
    if (price_or_unpriceable([&] { return (found = search_epoch_tiles(epoch, options)).steps.count(); }) == unpriceable)
      continue;
    evaluations += found.evaluations;
    complete = complete && found.complete;
    if (!best || found.steps < best->found.steps) best = BatchFound{epoch, found};
  }
  if (!best) throw_overflow();
  best->evaluations = evaluations;
  best->complete = complete;
  return *best;
}

}  // namespace joulegrid
