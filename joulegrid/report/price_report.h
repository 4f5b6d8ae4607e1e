#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "joulegrid/grid/packing.h"
#include "joulegrid/network/problem.h"
#include "joulegrid/report/energy_scale.h"
#include "joulegrid/report/text.h"
#include "joulegrid/schedule/schedule.h"
#include "joulegrid/search/nest_search.h"
#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid {

/// What a search for nests depended on.
struct NestSearchFacts {
  NestMethod method = NestMethod::annealing;
  std::uint64_t seed = 1;  ///< of annealing
  int rounds = 0;
};

/// How far a schedule can be from the cheapest of its family.
struct ProofFacts {
  GridSteps lower_bound;  ///< no tiles cost less
  std::uint64_t nodes = 0;
};

/// How a schedule was found.
struct SearchFacts {
  Candidates candidates = Candidates::divisors;  ///< of tiles
  std::uint64_t evaluations = 0;
  double seconds = 0;
  bool complete = true;          ///< false: a search for tiles that its budget ended, or any that was interrupted
  std::optional<Start> start{};  ///< for an epoch's tiles: where the winning descent began, and its sweeps
  int sweeps = 0;
  std::optional<NestSearchFacts> nests{};  ///< for nests
  std::optional<ProofFacts> proof{};       ///< for tiles, where asked for
};

/// One schedule of one problem and its price: what `model` and `search` say.
struct PriceReport {
  Problem problem;
  Schedule schedule;
  Packing packing;
  EnergyScale scale;
  GridSteps floor;  ///< no classical schedule of the problem costs less; docs/floor.md
  std::optional<SearchFacts> search{};
};

/// Prices the schedule; throws Error(bad_input) where a tile or nest does not fit, Error(overflow).
PriceReport price_report(const Problem& problem, const Schedule& schedule, const EnergyScale& scale);

/// The JSON document, docs/formats.md; it is also a schedule file. With `search` the keys of a search are added.
std::string price_document(const PriceReport& report);

/// The report as tables.
std::string price_text(const PriceReport& report, const TextStyle& style);

}  // namespace joulegrid
