#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "joulegrid/base/quantity.h"
#include "joulegrid/base/stop.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/nest_epoch.h"

namespace joulegrid {

/// How nests are searched; docs/search.md.
enum class NestMethod {
  annealing,  ///< chains of random changes
  beam,       ///< nests built from the innermost loop outward, in beams of growing width; nothing random
};

/// "annealing" or "beam".
const char* method_name(NestMethod method);

/// How far a search for nests is.
struct NestSearchProgress {
  int round;                  ///< counted from 1
  std::uint64_t evaluations;  ///< so far
  std::uint64_t batch;        ///< of the cheapest epoch so far
  std::size_t epochs;         ///< that are still compared
  GridSteps best;             ///< its price
};

struct NestSearchOptions {
  NestMethod method = NestMethod::annealing;
  std::uint64_t seed = 1;                                     ///< of annealing
  std::optional<std::uint64_t> evaluations{};                 ///< ends the search after so many
  unsigned threads = 1;                                       ///< at least 1
  const Stop* stop = nullptr;                                 ///< ends it early, with the best so far
  std::function<void(const NestSearchProgress&)> progress{};  ///< called now and then, by one thread at a time
};

/// The cheapest nests found.
struct NestsFound {
  Epoch epoch;
  EpochNests nests;
  GridSteps steps;
  std::uint64_t evaluations = 0;  ///< prices of changed nests; the same number and seed find the same nests
  int rounds = 0;                 ///< of which something was finished
};

/// Searches the nests of an epoch, or of the cheapest one of several that differ in the batch; a GEMM is an epoch of one layer.
/// In rounds of growing length or width; docs/search.md, "The search over nests". What is found depends on the epochs, the
/// method, the seed and the number of evaluations only. Either `evaluations` or `stop` must be given. Throws Error(overflow)
/// where the price of nothing that was found fits 128 bits.
NestsFound search_nests(const std::vector<Epoch>& epochs, const NestSearchOptions& options);

}  // namespace joulegrid
