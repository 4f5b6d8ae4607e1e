#pragma once

#include <cstddef>
#include <vector>

#include "joulegrid/network/epoch.h"
#include "joulegrid/search/even_reads.h"
#include "joulegrid/search/nest_draft.h"

namespace joulegrid {

/// Prices an epoch of nests with even reads (even_reads.h) while one nest at a time changes. The nests are counted group by
/// group, layer by layer; their arrays share addresses as docs/loop-nests.md, "Networks", says.
class EpochEvenSteps {
 public:
  /// One draft for each call group and layer.
  EpochEvenSteps(const Epoch& epoch, const std::vector<NestDraft>& drafts);

  /// From now on this nest changes.
  void focus(std::size_t nest);

  /// The epoch's steps with this draft in the place of the nest in focus.
  double steps(const NestDraft& draft);

  /// Puts the draft there.
  void place(const NestDraft& draft);

 private:
  /// Cells read alike.
  struct Run {
    double reads_per_cell;
    double cells;
  };

  /// What one nest reads in all calls of its group.
  struct NestRuns {
    std::vector<Run> scratch;    // by reads per cell, falling
    double a = 0, b = 0, c = 0;  // reads per bulk cell by one call; c without the exit read
  };

  void read(const NestDraft& draft, double calls, NestRuns& runs);
  void lay_bulk(const NestRuns& focused);
  void overlay_hidden(const NestRuns& focused, std::size_t parity);

  Epoch epoch_;
  std::vector<NestRuns> nests_;
  std::size_t focus_ = 0;
  NestRuns focused_;  // of the draft that is priced
  EvenReads reads_;
  std::vector<Run> rest_;    // scratch of the nests out of focus, overlaid by rank
  std::vector<Run> bulk_;    // by reads per cell, falling
  std::vector<Run> hidden_;  // scratch space of overlay_hidden
};

}  // namespace joulegrid
