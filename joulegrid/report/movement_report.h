#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/bound/floor.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/network/gemm.h"
#include "joulegrid/report/energy_scale.h"
#include "joulegrid/report/text.h"
#include "joulegrid/search/nest_search.h"
#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid {

/// A batch size as it was asked for; nothing means all examples in one call, "full".
using Batch = std::optional<std::uint64_t>;

/// How a report that goes beyond flat tiles searches nests for each batch.
struct NestSearchPlan {
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 4'000'000;  ///< for each batch; at least 1
};

/// What a movement report is about. The defaults are the published report's subject.
struct MovementSubject {
  std::vector<std::uint64_t> widths{784, 2500, 2000, 1500, 1000, 500, 10};
  std::uint64_t examples = 60000;
  std::vector<Batch> batches{std::nullopt, 64, 16, 4, 1};
  Gemm reference{8192, 8192, 8192};  ///< whose energy per MAC the MAC-count-only projection uses
  EnergyScale scale;
  std::string date = "2026-09-02";         ///< the model's date, unless the report's own is wanted
  std::optional<NestSearchPlan> beyond{};  ///< adds nests and the floor
};

/// The nests found for a batch, and where everything then lies.
struct NestCase {
  NestsFound found;
  Packing packing;
};

/// One batch size: the best tiles found, and where everything then lies.
struct MovementCase {
  Batch asked;
  Epoch epoch;
  EpochTilesFound found;
  Packing packing;
  std::optional<NestCase> nests{};  ///< where the subject goes beyond tiles

  /// "full", or the batch's digits.
  std::string name() const { return asked ? to_string(*asked) : "full"; }
};

/// The GEMM of the MAC-count-only projection: its cheapest tile, and what the epoch would cost if all MACs cost the same.
struct MacCountProjection {
  GemmTile found;
  Joules gemm;   ///< movement energy of the GEMM
  Joules epoch;  ///< epoch MACs · J of the GEMM / its MACs
  double joules_per_mac = 0;
};

/// Everything the movement report says, computed. An interrupt leaves out what was not finished: nothing in it is half done.
struct MovementReport {
  MovementSubject subject;
  Epoch epoch;  ///< of the full batch
  std::optional<MacCountProjection> projection;
  std::optional<MovementCase> full;  ///< the full batch, whether asked for or not
  std::vector<MovementCase> cases;   ///< in the order asked for
  std::optional<Floor> floor;        ///< of the epoch, with any batch; where the subject goes beyond tiles
  bool complete = true;              ///< false: interrupted
};

struct MovementReportOptions {
  const Stop* stop = nullptr;
  unsigned threads = 1;  ///< for nests
  std::function<void(const std::string& batch, const DescentProgress&)> progress{};
  std::function<void(const std::string& batch, const NestSearchProgress&)> nest_progress{};
};

/// Throws Error(bad_input) for a subject that makes no sense (also for a batch given twice), Error(overflow).
MovementReport movement_report(const MovementSubject& subject, const MovementReportOptions& options = {});

/// The JSON document, docs/formats.md; for the default subject it is the published report, and a final newline.
std::string movement_document(const MovementReport& report);

/// The report as tables.
std::string movement_text(const MovementReport& report, const TextStyle& style);

}  // namespace joulegrid
