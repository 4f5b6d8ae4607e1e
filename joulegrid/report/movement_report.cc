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

}  // namespace

MovementReport movement_report(const MovementSubject& subject, const MovementReportOptions& options) {
  if (subject.batches.empty()) throw Error(ErrorCode::bad_input, "a movement report needs at least one batch");
  for (auto batch = subject.batches.begin(); batch != subject.batches.end(); ++batch) {
    (void)Epoch(subject.widths, subject.examples, batch->value_or(subject.examples));  // all are sound before any work
    if (std::find(subject.batches.begin(), batch, *batch) != batch) {
      throw Error(ErrorCode::bad_input, "the batch " + (*batch ? to_string(**batch) : std::string("full")) + " is given twice");
    }
  }
  const auto stopped = [&] { return options.stop != nullptr && options.stop->requested(); };
  MovementReport report{subject, {}, price_batch(subject, std::nullopt, options), {}};
  for (const Batch batch : subject.batches) {
    if (stopped()) break;
    report.cases.push_back(batch ? price_batch(subject, batch, options) : report.full);
  }
  SaCacheSearchOptions search;
  search.stop = options.stop;
  report.reference = search_gemm_tile(subject.reference, search);
  report.complete = !stopped();
  return report;
}

}  // namespace joulegrid
