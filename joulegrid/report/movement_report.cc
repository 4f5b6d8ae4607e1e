#include "joulegrid/report/movement_report.h"

#include <algorithm>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

MovementCase price_batch(const MovementSubject& subject, Batch batch, const MovementReportOptions& options) {
  const Epoch epoch(subject.widths, subject.examples, batch.value_or(subject.examples));
  MovementCase result{batch, epoch, {}, {}};
  SaCacheSearchOptions search;
  search.stop = options.stop;
  if (options.progress) {
    search.progress = [&](const DescentProgress& progress) { options.progress(result.name(), progress); };
  }
  result.found = search_epoch_tiles(epoch, search);
  result.packing = pack(sa_cache_overlays(epoch, result.found.tiles).all());
  check(result.packing.steps == result.found.steps, "the search's price is the packing's");
  return result;
}

/// Nothing where the search was interrupted.
std::optional<NestCase> search_nests_of(const MovementCase& of, const NestSearchPlan& plan,
                                        const MovementReportOptions& options) {
  NestSearchOptions search;
  search.seed = plan.seed;
  search.evaluations = plan.evaluations;
  search.threads = options.threads;
  search.stop = options.stop;
  if (options.nest_progress) {
    search.progress = [&](const NestSearchProgress& progress) { options.nest_progress(of.name(), progress); };
  }
  const NestsFound found = search_nests({of.epoch}, search);
  if (found.evaluations < plan.evaluations) return std::nullopt;
  return NestCase{found, pack(nest_overlays(of.epoch, found.nests))};
}

MacCountProjection project(const MovementSubject& subject, const Epoch& epoch, const GemmTile& found) {
  const double joules = subject.scale.joules(found.steps).count();
  const auto macs = static_cast<double>(subject.reference.macs());
  return {found, Joules(joules), Joules(static_cast<double>(epoch.macs()) * joules / macs), joules / macs};
}

/// Computes the report's parts, one after the other; false where it was stopped before the end.
bool fill(MovementReport& report, const MovementReportOptions& options) {
  const MovementSubject& subject = report.subject;
  SaCacheSearchOptions search;
  search.stop = options.stop;
  const GemmTile reference = search_gemm_tile(subject.reference, search);
  if (!reference.complete) return false;
  report.projection = project(subject, report.epoch, reference);
  MovementCase full = price_batch(subject, std::nullopt, options);
  if (!full.found.complete) return false;
  report.full = std::move(full);
  for (const Batch batch : subject.batches) {
    MovementCase of_batch = batch ? price_batch(subject, batch, options) : *report.full;
    if (!of_batch.found.complete) return false;
    report.cases.push_back(std::move(of_batch));
  }
  if (!subject.beyond) return true;
  report.floor = floor_of(report.epoch);
  for (MovementCase& of_batch : report.cases) {
    of_batch.nests = search_nests_of(of_batch, *subject.beyond, options);
    if (!of_batch.nests) return false;
  }
  return true;
}

}  // namespace

MovementReport movement_report(const MovementSubject& subject, const MovementReportOptions& options) {
  if (subject.batches.empty()) throw Error(ErrorCode::bad_input, "a movement report needs at least one batch");
  for (auto batch = subject.batches.begin(); batch != subject.batches.end(); ++batch) {
    (void)Epoch(subject.widths, subject.examples, batch->value_or(subject.examples));  // all are sound before any work
    if (std::find(subject.batches.begin(), batch, *batch) != batch) {
      throw Error(ErrorCode::bad_input, "the batch " + (*batch ? to_string(**batch) : std::string("full")) + " is given twice");
    }
  }
  MovementReport report{subject, Epoch(subject.widths, subject.examples, subject.examples), {}, {}, {}, {}};
  report.complete = fill(report, options);
  return report;
}

}  // namespace joulegrid
