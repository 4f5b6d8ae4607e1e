#include "joulegrid/search/nest_search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/search/cheapest_tile.h"
#include "joulegrid/search/epoch_even_steps.h"
#include "joulegrid/search/in_order.h"
#include "joulegrid/search/nest_annealing.h"
#include "joulegrid/search/nest_beam.h"

namespace joulegrid {

namespace {

/// The length of the first round's chains; each round doubles it.
constexpr std::uint64_t first_length_of_gemm = 4096;
constexpr std::uint64_t first_length_of_epoch = 256;

/// So often a round goes through the nests of the last epoch that is left.
constexpr int passes_of_last = 3;

/// How a chain begins: with a nest of random order, or with the best one; and its temperature, relative to the price.
struct ChainKind {
  enum class From { small_factors, halves, best } from;
  double hottest;
};
using From = ChainKind::From;

/// Chains of each round: for a nest alone, one in its place among others, all nests of an epoch.
constexpr std::array<ChainKind, 8> gemm_chains{{{From::small_factors, 0.02},
                                                {From::halves, 0.02},
                                                {From::small_factors, 0.02},
                                                {From::halves, 0.02},
                                                {From::best, 0.01},
                                                {From::best, 0.005},
                                                {From::small_factors, 0.02},
                                                {From::halves, 0.02}}};
constexpr std::array<ChainKind, 2> alone_chains{{{From::small_factors, 0.02}, {From::halves, 0.02}}};
constexpr std::array<ChainKind, 4> nest_chains{
    {{From::best, 0.01}, {From::small_factors, 0.02}, {From::best, 0.005}, {From::halves, 0.02}}};
constexpr std::array<ChainKind, 2> epoch_chains{{{From::best, 0.004}, {From::best, 0.001}}};

/// An epoch that is compared with others: the best nests so far, and their price with even reads.
struct Contender {
  Epoch epoch;
  std::vector<Annealed> alone;                              ///< by nest: as if it were the only one
  Annealed together;                                        ///< all nests; no drafts until a round has come this far
  double lowest = std::numeric_limits<double>::infinity();  ///< of all rounds

  explicit Contender(const Epoch& of) : epoch(of), alone(nests()) {}

  std::size_t nests() const { return epoch.call_groups().size() * epoch.layers(); }
  const CallGroup& group(std::size_t nest) const { return epoch.call_groups()[nest / epoch.layers()]; }
  Gemm gemm(std::size_t nest) const { return epoch.gemm(group(nest).rows, nest % epoch.layers()); }

  /// What the nest's products are of all.
  double share(std::size_t nest) const {
    return static_cast<double>(gemm(nest).macs()) * static_cast<double>(group(nest).calls) / static_cast<double>(epoch.macs());
  }

  /// How long chains that change the nest are, of 1: where it matters little, shorter.
  double weight(std::size_t nest) const {
    constexpr double least = 1.0 / 16;
    return std::clamp(share(nest) * static_cast<double>(nests()), least, 1.0);
  }

  double weight_of_all() const {
    double sum = 0;
    for (std::size_t nest = 0; nest < nests(); ++nest) sum += weight(nest);
    return sum;
  }

  bool priced() const { return !together.drafts.empty(); }
};

bool cheaper(const Annealed& a, const Annealed& b) { return b.drafts.empty() || a.steps < b.steps; }

EpochNests nests_of(const Epoch& epoch, const std::vector<NestDraft>& drafts) {
  EpochNests nests(epoch.call_groups().size());
  for (std::size_t i = 0; i < drafts.size(); ++i) nests[i / epoch.layers()].push_back(drafts[i].nest());
  return nests;
}

/// The exact price; `unpriceable` where there is none within 128 bits and the limits of docs/loop-nests.md.
Wide exact_steps(const Epoch& epoch, const EpochNests& nests) {
  try {
    return pack(nest_overlays(epoch, nests)).steps.count();
  } catch (const Error&) {
    return unpriceable;
  }
}

/// The drafts without marks whose buffers make nothing cheaper (with even reads).
std::vector<NestDraft> without_idle_marks(const Epoch& epoch, std::vector<NestDraft> drafts) {
  EpochEvenSteps epoch_steps(epoch, drafts);
  for (std::size_t nest = 0; nest < drafts.size(); ++nest) {
    epoch_steps.focus(nest);
    NestDraft& draft = drafts[nest];
    double steps = epoch_steps.steps(draft);
    for (std::size_t depth = 1; depth <= draft.order.loops; ++depth) {
      for (const Operand operand : all_operands) {
        const auto mark = static_cast<std::uint8_t>(1U << static_cast<unsigned>(operand));
        if ((draft.order.marks[depth] & mark) == 0) continue;
        draft.order.marks[depth] ^= mark;
        const double without = epoch_steps.steps(draft);
        if (without > steps) {
          draft.order.marks[depth] ^= mark;
        } else {
          steps = without;
        }
      }
    }
    epoch_steps.place(draft);
  }
  return drafts;
}

/// The number's bits in reverse: counting up, it halves what is left over and over.
std::uint64_t reversed(std::uint64_t number) {
  std::uint64_t result = 0;
  for (int bit = 0; bit < 64; ++bit, number >>= 1U) result = result << 1U | (number & 1U);
  return result;
}

class NestSearch {
 public:
  NestSearch(const std::vector<Epoch>& epochs, const NestSearchOptions& options)
      : options_(options), best_{epochs.front(), {}, GridSteps(unpriceable)} {
    for (const Epoch& epoch : epochs) {
      racing_.push_back(contenders_.size());
      contenders_.emplace_back(epoch);
    }
    // Neighbours far apart, so that a search that is stopped in its first round has looked everywhere a little.
    std::sort(racing_.begin(), racing_.end(), [](std::size_t a, std::size_t b) { return reversed(a) < reversed(b); });
    // Should the search be stopped before it has found anything.
    std::vector<NestDraft> plain;
    for (std::size_t nest = 0; nest < contenders_.front().nests(); ++nest) {
      plain.push_back(NestDraft::of_small_factors(contenders_.front().gemm(nest)));
    }
    consider(epochs.front(), plain);
  }

  NestsFound run() {
    options_.method == NestMethod::beam ? widen_beams() : anneal();
    if (best_.steps.count() == unpriceable) throw_overflow();
    return best_;
  }

 private:
  struct Chain {
    std::size_t contender;
    std::size_t nest;
    ChainKind kind;
    std::uint64_t length;
    std::uint64_t sequence = 0;  ///< of its random numbers, which are its own in the whole search
  };

  void anneal() {
    const bool one_gemm = contenders_.size() == 1 && contenders_.front().nests() == 1;
    for (length_ = one_gemm ? first_length_of_gemm : first_length_of_epoch; !ended(); length_ *= 2) {
      const std::uint64_t before = best_.evaluations;
      ++best_.rounds;
      if (one_gemm) {
        anneal_alone(gemm_chains);
      } else {
        anneal_afresh();
      }
      drop_dear_ones();
      if (best_.evaluations == before) --best_.rounds;
    }
  }

  /// Beams of twice the width in each round, until the widest possible.
  void widen_beams() {
    bool more = true;
    for (std::size_t width = 1; more && !ended(); width *= 2) {
      ++best_.rounds;
      const std::uint64_t before = best_.evaluations;
      more = beam_alone(width);
      assemble();
      price_exactly();
      drop_dear_ones();
      if (best_.evaluations == before) --best_.rounds;
    }
  }

  /// Each nest of each contender as if it were the only one. Says whether a wider beam can find more, and there is time for it.
  bool beam_alone(std::size_t width) {
    struct Job {
      std::size_t contender;
      std::size_t nest;
      bool through;
      bool reflected;
    };
    // Other variants rarely win; where there is one small nest to find they cost nothing to speak of.
    constexpr std::size_t widest_with_all_variants = 2;
    const bool all_variants = width <= widest_with_all_variants && racing_.size() == 1 && contenders_[racing_[0]].nests() == 1;
    std::vector<Job> jobs;
    for (const std::size_t i : racing_) {
      const Contender& contender = contenders_[i];
      for (std::size_t nest = 0; nest < contender.nests(); ++nest) {
        for (const bool through : {true, false}) {
          for (const bool reflected : {true, false}) {
            const std::vector<NestDraft>& best = contender.alone[nest].drafts;
            const LoopOrder usual = best.empty() ? LoopOrder{} : best.front().order;
            if (!all_variants && (through != usual.through || reflected != usual.reflected)) continue;
            jobs.push_back({i, nest, through, reflected});
          }
        }
      }
    }
    constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t left = options_.evaluations ? *options_.evaluations - best_.evaluations : unlimited;
    std::vector<BeamFound> results(jobs.size());
    std::atomic<std::uint64_t> evaluations{best_.evaluations};
    const std::size_t done = run_in_order(jobs.size(), options_.threads, options_.stop, [&](std::size_t i) {
      const Job& job = jobs[i];
      results[i] =
          search_nest_beam(contenders_[job.contender].gemm(job.nest), {width, left, job.through, job.reflected, options_.stop});
      report(evaluations += results[i].evaluations);
      return !results[i].drafts.empty();
    });
    const std::uint64_t most = options_.evaluations.value_or(unlimited);
    bool saturated = true;
    for (std::size_t i = 0; i < done; ++i) {
      const BeamFound& found = results[i];
      if (found.evaluations > most - best_.evaluations) return false;
      best_.evaluations += found.evaluations;
      saturated = saturated && found.saturated;
      Contender& contender = contenders_[jobs[i].contender];
      Annealed& best = contender.alone[jobs[i].nest];
      if (best.drafts.empty() || found.steps < best.steps) best = {{found.drafts.front()}, found.steps};
      if (contender.nests() > 1) continue;
      for (const NestDraft& draft : found.drafts) consider(contender.epoch, {draft});
    }
    return done == jobs.size() && !saturated;
  }

  bool ended() const {
    return (options_.stop != nullptr && options_.stop->requested()) ||
           (options_.evaluations && best_.evaluations >= *options_.evaluations);
  }

  /// Runs chains, cut to the evaluations that are left for them, and hands the results of those that came to their end to
  /// `take`, in order. Says whether all did and evaluations are left.
  template <typename Anneal, typename Take>
  bool run_chains(std::vector<Chain> chains, const Anneal& anneal, const Take& take) {
    std::uint64_t planned = best_.evaluations;
    for (Chain& chain : chains) {
      chain.sequence = sequences_++;
      if (options_.evaluations) chain.length = std::min(chain.length, *options_.evaluations - planned);
      planned += chain.length;
    }
    std::erase_if(chains, [](const Chain& chain) { return chain.length == 0; });
    std::vector<Annealed> results(chains.size());
    std::atomic<std::uint64_t> evaluations{best_.evaluations};
    const std::size_t done = run_in_order(chains.size(), options_.threads, options_.stop, [&](std::size_t i) {
      Random random(options_.seed, chains[i].sequence);
      results[i] = anneal(chains[i], random);
      report(evaluations += chains[i].length);
      return results[i].complete;
    });
    for (std::size_t i = 0; i < done; ++i) {
      best_.evaluations += chains[i].length;
      take(chains[i], results[i]);
    }
    return done == chains.size() && !ended();
  }

  /// A part or a multiple of this round's length.
  std::uint64_t scaled(double by) const { return static_cast<std::uint64_t>(by * static_cast<double>(length_)); }

  AnnealingPlan plan_of(const Chain& chain, double share = 1) const {
    return {chain.length, chain.kind.hottest * share, options_.stop};
  }

  static NestDraft random_nest(const Gemm& gemm, From from, Random& random) {
    NestDraft draft = from == From::halves ? NestDraft::of_halves(gemm) : NestDraft::of_small_factors(gemm);
    shuffle(draft, random);
    return draft;
  }

  /// Each nest of each contender as if it were the only one.
  template <typename Kinds>
  bool anneal_alone(const Kinds& kinds) {
    std::vector<Chain> chains;
    for (const std::size_t contender : racing_) {
      for (std::size_t nest = 0; nest < contenders_[contender].nests(); ++nest) {
        const std::uint64_t length = scaled(contenders_[contender].weight(nest));
        for (const ChainKind& kind : kinds) chains.push_back({contender, nest, kind, length});
      }
    }
    const auto anneal = [&](const Chain& chain, Random& random) {
      const Contender& contender = contenders_[chain.contender];
      const Annealed& best = contender.alone[chain.nest];
      const bool from_best = chain.kind.from == From::best && !best.drafts.empty();
      const NestDraft start =
          from_best ? best.drafts.front() : random_nest(contender.gemm(chain.nest), chain.kind.from, random);
      return anneal_gemm(start, plan_of(chain), random);
    };
    const auto take = [&](const Chain& chain, const Annealed& found) {
      Contender& contender = contenders_[chain.contender];
      if (cheaper(found, contender.alone[chain.nest])) contender.alone[chain.nest] = found;
      if (contender.nests() == 1) consider(contender.epoch, found.drafts);
    };
    return run_chains(std::move(chains), anneal, take);
  }

  /// The epochs from nothing.
  void anneal_afresh() {
    for (const std::size_t i : racing_) {
      contenders_[i].alone.assign(contenders_[i].nests(), {});
      contenders_[i].together = {};
    }
    bool more = anneal_alone(alone_chains);
    assemble();
    more = more && anneal_together();
    const int passes = racing_.size() > 1 ? 1 : passes_of_last;
    for (int pass = 0; more && pass < passes; ++pass) more = anneal_each() && anneal_together();
    price_exactly();
  }

  /// What was found for each nest alone is where all begin together.
  void assemble() {
    for (const std::size_t i : racing_) {
      Contender& contender = contenders_[i];
      std::vector<NestDraft> drafts;
      for (const Annealed& nest : contender.alone) {
        if (!nest.drafts.empty()) drafts.push_back(nest.drafts.front());
      }
      if (drafts.size() < contender.nests()) continue;  // the search has ended before
      const double steps = EpochEvenSteps(contender.epoch, drafts).steps(drafts.front());
      contender.together = {std::move(drafts), steps};
      contender.lowest = std::min(contender.lowest, steps);
    }
  }

  /// The nests of each contender one after the other, the others as they are.
  bool anneal_each() {
    std::size_t most = 0;
    for (const std::size_t i : racing_) most = std::max(most, contenders_[i].nests());
    for (std::size_t nest = 0; nest < most; ++nest) {
      std::vector<Chain> chains;
      for (const std::size_t i : racing_) {
        const Contender& contender = contenders_[i];
        if (nest >= contender.nests() || !contender.priced()) continue;
        for (const ChainKind& kind : nest_chains) chains.push_back({i, nest, kind, scaled(contender.weight(nest))});
      }
      const auto anneal = [&](const Chain& chain, Random& random) {
        const Contender& contender = contenders_[chain.contender];
        const std::vector<NestDraft>& drafts = contender.together.drafts;
        const NestDraft start =
            chain.kind.from == From::best ? drafts[nest] : random_nest(contender.gemm(nest), chain.kind.from, random);
        return anneal_nest(contender.epoch, drafts, nest, start, plan_of(chain, contender.share(nest)), random);
      };
      if (!run_chains(std::move(chains), anneal, [&](const Chain& chain, const Annealed& found) { improve(chain, found); })) {
        return false;
      }
    }
    return true;
  }

  /// All nests of each contender.
  bool anneal_together() {
    std::vector<Chain> chains;
    for (const std::size_t i : racing_) {
      const Contender& contender = contenders_[i];
      if (contender.nests() == 1) continue;
      for (const ChainKind& kind : epoch_chains) chains.push_back({i, 0, kind, scaled(contender.weight_of_all() / 2)});
    }
    const auto anneal = [&](const Chain& chain, Random& random) {
      const Contender& contender = contenders_[chain.contender];
      return anneal_epoch(contender.epoch, contender.together.drafts, plan_of(chain), random);
    };
    return run_chains(std::move(chains), anneal, [&](const Chain& chain, const Annealed& found) { improve(chain, found); });
  }

  void improve(const Chain& chain, const Annealed& found) {
    Contender& contender = contenders_[chain.contender];
    if (cheaper(found, contender.together)) contender.together = found;
    contender.lowest = std::min(contender.lowest, contender.together.steps);
  }

  /// The exact price of the contenders whose price with even reads is close to the lowest.
  void price_exactly() {
    constexpr double close = 1.01;
    double lowest = 0;
    for (const std::size_t i : racing_) {
      const Annealed& together = contenders_[i].together;
      if (contenders_[i].priced() && (lowest == 0 || together.steps < lowest)) lowest = together.steps;
    }
    for (const std::size_t i : racing_) {
      const Contender& contender = contenders_[i];
      if (!contender.priced() || contender.together.steps > close * lowest) continue;
      consider(contender.epoch, contender.together.drafts);
    }
  }

  void consider(const Epoch& epoch, const std::vector<NestDraft>& drafts) {
    consider(epoch, nests_of(epoch, without_idle_marks(epoch, drafts)));
    consider(epoch, nests_of(epoch, drafts));
  }

  void consider(const Epoch& epoch, const EpochNests& nests) {
    const GridSteps steps(exact_steps(epoch, nests));
    if (!best_.nests.empty() && steps >= best_.steps) return;
    best_.epoch = epoch;
    best_.nests = nests;
    best_.steps = steps;
  }

  /// Of many contenders a third goes on.
  void drop_dear_ones() {
    std::stable_sort(racing_.begin(), racing_.end(),
                     [this](std::size_t a, std::size_t b) { return contenders_[a].lowest < contenders_[b].lowest; });
    racing_.resize((racing_.size() + 2) / 3);
    std::sort(racing_.begin(), racing_.end());
  }

  void report(std::uint64_t evaluations) {
    if (!options_.progress) return;
    const std::lock_guard lock(progress_mutex_);
    options_.progress({best_.rounds, evaluations, best_.epoch.batch(), racing_.size(), best_.steps});
  }

  const NestSearchOptions& options_;
  std::vector<Contender> contenders_;
  std::vector<std::size_t> racing_;
  std::uint64_t length_ = 0;     // of this round's chains
  std::uint64_t sequences_ = 0;  // of random numbers given out
  NestsFound best_;
  std::mutex progress_mutex_;
};

}  // namespace

const char* method_name(NestMethod method) { return method == NestMethod::beam ? "beam" : "annealing"; }

NestsFound search_nests(const std::vector<Epoch>& epochs, const NestSearchOptions& options) {
  check(!epochs.empty(), "at least one epoch to search");
  check(options.evaluations || options.stop != nullptr, "something that ends the search");
  return NestSearch(epochs, options).run();
}

}  // namespace joulegrid
