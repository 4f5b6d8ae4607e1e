#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid {

/// The batches worth trying for so many examples: all divisors of the count (no remainder call) and all powers of two below
/// it, ascending.
std::vector<std::uint64_t> batch_candidates(std::uint64_t examples);

/// The cheapest of several batches.
struct BatchFound {
  Epoch epoch;
  EpochTilesFound found;
  std::uint64_t evaluations = 0;  ///< over all batches
  bool complete = true;           ///< false: stopped early
};

/// Searches the tiles for each batch; the cheapest one, the earlier of equally cheap ones. `batches` is not empty. Throws
/// Error(overflow) where the price of no batch fits 128 bits.
BatchFound search_batches(const std::vector<std::uint64_t>& widths, std::uint64_t examples,
                          const std::vector<std::uint64_t>& batches, SaCacheSearchOptions options = {},
                          const std::function<void(const std::string& batch, const DescentProgress&)>& progress = {});

}  // namespace joulegrid
