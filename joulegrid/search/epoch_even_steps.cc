#include "joulegrid/search/epoch_even_steps.h"

#include <algorithm>
#include <limits>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

double as_double(Wide value) { return static_cast<double>(value); }

/// Short lists that are nearly in order already.
template <typename Runs, typename Before>
void insertion_sort(Runs& runs, const Before& before) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto run = runs[i];
    std::size_t at = i;
    for (; at > 0 && before(run, runs[at - 1]); --at) runs[at] = runs[at - 1];
    runs[at] = run;
  }
}

constexpr auto read_more = [](const auto& a, const auto& b) { return a.reads_per_cell > b.reads_per_cell; };

}  // namespace

EpochEvenSteps::EpochEvenSteps(const Epoch& epoch, const std::vector<NestDraft>& drafts) : epoch_(epoch) {
  check(drafts.size() == epoch.call_groups().size() * epoch.layers(), "one draft for each call group and layer");
  nests_.resize(drafts.size());
  for (std::size_t nest = 0; nest < drafts.size(); ++nest) {
    read(drafts[nest], as_double(epoch.call_groups()[nest / epoch.layers()].calls), nests_[nest]);
  }
  focus(0);
}

void EpochEvenSteps::read(const NestDraft& draft, double calls, NestRuns& runs) {
  even_reads(draft, reads_);
  runs.a = reads_.reads_per_cell[0];
  runs.b = reads_.reads_per_cell[1];
  runs.c = reads_.reads_per_cell[2] - 1;
  runs.scratch.clear();
  for (std::size_t i = EvenReads::tmp; i < reads_.arrays; ++i) {
    if (reads_.reads_per_cell[i] > 0) runs.scratch.push_back({reads_.reads_per_cell[i] * calls, reads_.cells[i]});
  }
  insertion_sort(runs.scratch, read_more);
}

void EpochEvenSteps::focus(std::size_t nest) {
  focus_ = nest;
  focused_ = nests_[nest];
  // Where each list of runs is, and how far into its run.
  std::vector<std::pair<std::size_t, double>> at(nests_.size());
  rest_.clear();
  for (;;) {
    double reads = 0;
    double cells = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < nests_.size(); ++i) {
      const std::vector<Run>& runs = nests_[i].scratch;
      if (i == focus_ || at[i].first == runs.size()) continue;
      reads += runs[at[i].first].reads_per_cell;
      cells = std::min(cells, runs[at[i].first].cells - at[i].second);
    }
    if (reads == 0) break;
    rest_.push_back({reads, cells});
    for (std::size_t i = 0; i < nests_.size(); ++i) {
      const std::vector<Run>& runs = nests_[i].scratch;
      if (i == focus_ || at[i].first == runs.size()) continue;
      at[i].second += cells;
      if (at[i].second >= runs[at[i].first].cells) at[i] = {at[i].first + 1, 0};
    }
  }
}

void EpochEvenSteps::overlay_hidden(const NestRuns& focused, std::size_t parity) {
  const std::vector<CallGroup>& groups = epoch_.call_groups();
  hidden_.clear();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t layer = 1; layer < epoch_.layers(); ++layer) {
      if (layer % 2 != parity) continue;
      const auto of = [&](std::size_t nest) -> const NestRuns& { return nest == focus_ ? focused : nests_[nest]; };
      const std::size_t after = group * epoch_.layers() + layer;
      hidden_.push_back({as_double(groups[group].calls) * (of(after - 1).c + of(after).a),
                         as_double(groups[group].rows) * as_double(epoch_.widths()[layer])});
    }
  }
  insertion_sort(hidden_, [](const Run& a, const Run& b) { return a.cells < b.cells; });
  double reads = 0;
  for (const Run& run : hidden_) reads += run.reads_per_cell;
  double laid = 0;
  for (const Run& run : hidden_) {
    if (run.cells > laid) bulk_.push_back({reads, run.cells - laid});
    laid = std::max(laid, run.cells);
    reads = std::max(0.0, reads - run.reads_per_cell);
  }
}

void EpochEvenSteps::lay_bulk(const NestRuns& focused) {
  const std::vector<CallGroup>& groups = epoch_.call_groups();
  const auto of = [&](std::size_t group, std::size_t layer) -> const NestRuns& {
    const std::size_t nest = group * epoch_.layers() + layer;
    return nest == focus_ ? focused : nests_[nest];
  };
  bulk_.clear();
  for (std::size_t layer = 0; layer < epoch_.layers(); ++layer) {
    double reads = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) reads += as_double(groups[group].calls) * of(group, layer).b;
    bulk_.push_back({reads, as_double(epoch_.widths()[layer]) * as_double(epoch_.widths()[layer + 1])});
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const double rows = as_double(groups[group].rows) * as_double(groups[group].calls);
    bulk_.push_back({of(group, 0).a, rows * as_double(epoch_.widths().front())});
    bulk_.push_back({of(group, epoch_.layers() - 1).c + 1, rows * as_double(epoch_.widths().back())});
  }
  overlay_hidden(focused, 0);
  overlay_hidden(focused, 1);
  insertion_sort(bulk_, read_more);
}

double EpochEvenSteps::steps(const NestDraft& draft) {
  read(draft, as_double(epoch_.call_groups()[focus_ / epoch_.layers()].calls), focused_);
  lay_bulk(focused_);
  double steps = 0;
  double end = 0;
  double sum = 0;  // of the distances of the first `end` cells
  auto bulk = bulk_.begin();
  const auto lay = [&](double reads, double cells) {
    end += cells;
    const double next = distance_sum_of(end);
    steps += reads * (next - sum);
    sum = next;
  };
  const auto lay_scratch = [&](double reads, double cells) {
    for (; bulk != bulk_.end() && bulk->reads_per_cell >= reads; ++bulk) lay(bulk->reads_per_cell, bulk->cells);
    lay(reads, cells);
  };
  // The focused nest's runs over the others'.
  auto mine = focused_.scratch.begin();
  auto theirs = rest_.begin();
  double mine_laid = 0;
  double theirs_laid = 0;
  while (mine != focused_.scratch.end() || theirs != rest_.end()) {
    const bool has_mine = mine != focused_.scratch.end();
    const bool has_theirs = theirs != rest_.end();
    const double left_mine = has_mine ? mine->cells - mine_laid : std::numeric_limits<double>::infinity();
    const double left_theirs = has_theirs ? theirs->cells - theirs_laid : std::numeric_limits<double>::infinity();
    const double cells = std::min(left_mine, left_theirs);
    lay_scratch((has_mine ? mine->reads_per_cell : 0) + (has_theirs ? theirs->reads_per_cell : 0), cells);
    mine_laid += cells;
    theirs_laid += cells;
    if (left_mine <= cells) {
      ++mine;
      mine_laid = 0;
    }
    if (left_theirs <= cells) {
      ++theirs;
      theirs_laid = 0;
    }
  }
  for (; bulk != bulk_.end(); ++bulk) lay(bulk->reads_per_cell, bulk->cells);
  return steps;
}

void EpochEvenSteps::place(const NestDraft& draft) {
  read(draft, as_double(epoch_.call_groups()[focus_ / epoch_.layers()].calls), nests_[focus_]);
}

}  // namespace joulegrid
