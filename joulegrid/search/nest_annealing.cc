#include "joulegrid/search/nest_annealing.h"

#include <algorithm>
#include <cmath>

#include "joulegrid/base/error.h"
#include "joulegrid/search/epoch_even_steps.h"
#include "joulegrid/search/even_reads.h"

namespace joulegrid {

namespace {

/// Between two looks at the clock and the temperature.
constexpr std::uint64_t stretch = 256;

double temperature(const AnnealingPlan& plan, std::uint64_t done) {
  const double left = 1 - static_cast<double>(done) / static_cast<double>(plan.evaluations);
  return plan.hottest * left * std::sqrt(left);
}

/// Where a chain is: the nest that it has, the change that it tries, and the best that it has seen.
class Walker {
 public:
  Walker(const NestDraft& start, double steps) : steps_(steps), now_(start), next_(start) {}

  double steps() const { return steps_; }
  const NestDraft& draft() const { return now_; }

  /// Tries one change; says whether it was taken.
  template <typename Price>
  bool step(const Price& price, double temperature, Random& random) {
    const bool cuts = change(next_, random);
    const double steps = price(next_);
    const bool taken = steps <= steps_ * (1 + temperature * random.exponential());
    const NestDraft& from = taken ? next_ : now_;
    NestDraft& to = taken ? now_ : next_;
    to.order = from.order;
    if (cuts) to.cuts = from.cuts;
    if (taken) steps_ = steps;
    return taken;
  }

 private:
  double steps_;
  NestDraft now_;
  NestDraft next_;
};

/// Walks from `start` as the plan says and calls `taken` after every change that was taken. Says whether it came to the end.
template <typename Price, typename Taken>
bool run_chain(const NestDraft& start, const Price& price, const AnnealingPlan& plan, Random& random, const Taken& taken) {
  Walker walker(start, price(start));
  taken(walker);
  for (std::uint64_t done = 0; done < plan.evaluations;) {
    if (plan.stop != nullptr && plan.stop->requested()) return false;
    const double hot = temperature(plan, done);
    const std::uint64_t end = std::min(plan.evaluations, done + stretch);
    for (; done < end; ++done) {
      if (walker.step(price, hot, random)) taken(walker);
    }
  }
  return true;
}

}  // namespace

Annealed anneal_gemm(const NestDraft& start, const AnnealingPlan& plan, Random& random) {
  EvenReads reads;
  const auto price = [&](const NestDraft& draft) {
    even_reads(draft, reads);
    return even_steps(reads);
  };
  Annealed best{{start}, price(start)};
  best.complete = run_chain(start, price, plan, random, [&](const Walker& walker) {
    if (walker.steps() >= best.steps) return;
    best.drafts.front() = walker.draft();
    best.steps = walker.steps();
  });
  return best;
}

Annealed anneal_nest(const Epoch& epoch, const std::vector<NestDraft>& drafts, std::size_t nest, const NestDraft& start,
                     const AnnealingPlan& plan, Random& random) {
  EpochEvenSteps epoch_steps(epoch, drafts);
  epoch_steps.focus(nest);
  const auto price = [&](const NestDraft& draft) { return epoch_steps.steps(draft); };
  Annealed best{drafts, price(drafts[nest])};
  best.complete = run_chain(start, price, plan, random, [&](const Walker& walker) {
    if (walker.steps() >= best.steps) return;
    best.drafts[nest] = walker.draft();
    best.steps = walker.steps();
  });
  return best;
}

Annealed anneal_epoch(const Epoch& epoch, const std::vector<NestDraft>& start, const AnnealingPlan& plan, Random& random) {
  EpochEvenSteps epoch_steps(epoch, start);
  const auto price = [&](const NestDraft& draft) { return epoch_steps.steps(draft); };
  // A nest is changed in proportion to what its products are of all, and now and then however few they are.
  std::vector<double> shares;
  for (const CallGroup& group : epoch.call_groups()) {
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      const double products = static_cast<double>(epoch.gemm(group.rows, layer).macs()) * static_cast<double>(group.calls);
      const double share = products / static_cast<double>(epoch.macs());
      shares.push_back(share + 0.25 / static_cast<double>(start.size()) + (shares.empty() ? 0 : shares.back()));
    }
  }
  std::vector<NestDraft> now = start;
  Annealed best{start, price(start[0])};
  constexpr std::size_t ticks = 1U << 20U;
  for (std::uint64_t done = 0; done < plan.evaluations;) {
    if (plan.stop != nullptr && plan.stop->requested()) {
      best.complete = false;
      return best;
    }
    const double hot = temperature(plan, done);
    const double tick = (static_cast<double>(random.below(ticks)) + 0.5) / static_cast<double>(ticks) * shares.back();
    const auto nest = static_cast<std::size_t>(std::upper_bound(shares.begin(), shares.end(), tick) - shares.begin());
    epoch_steps.focus(nest);
    Walker walker(now[nest], price(now[nest]));
    const std::uint64_t end = std::min(plan.evaluations, done + stretch);
    bool better = false;
    for (; done < end; ++done) {
      if (!walker.step(price, hot, random) || walker.steps() >= best.steps) continue;
      if (!better) best.drafts = now;
      better = true;
      best.drafts[nest] = walker.draft();
      best.steps = walker.steps();
    }
    now[nest] = walker.draft();
    epoch_steps.place(walker.draft());
  }
  return best;
}

}  // namespace joulegrid
