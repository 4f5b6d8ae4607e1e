#include "joulegrid/search/nest_beam.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "joulegrid/search/even_reads.h"

namespace joulegrid {

namespace {

/// How often each small factor of each dimension has been used: a block.
using Block = std::array<std::vector<std::uint8_t>, 3>;

/// A loop with the marks right inside it.
struct MarkedLoop {
  std::uint8_t dimension = 0;
  std::uint8_t trips = 1;
  std::uint8_t marks = 0;
};

/// A nest of a block: its loops, innermost first.
struct Partial {
  double steps = 0;
  std::vector<MarkedLoop> loops;
};

/// Keeps the cheapest of what comes, one of each price: equally cheap nests are mostly variations of one, and would crowd out
/// others.
class Beam {
 public:
  explicit Beam(std::size_t width) : width_(width) {}

  /// Whether a nest of that price would be kept.
  bool takes(double steps) {
    const auto at = find(steps);
    if (at != nests_.end() && at->steps <= steps * (1 + equal)) return false;
    if (nests_.size() < width_ || at != nests_.end()) return true;
    full_ = true;
    return false;
  }

  void add(Partial nest) {
    nests_.insert(find(nest.steps), std::move(nest));
    if (nests_.size() <= width_) return;
    nests_.pop_back();
    full_ = true;
  }

  const std::vector<Partial>& nests() const { return nests_; }
  bool full() const { return full_; }

 private:
  static constexpr double equal = 1e-12;

  /// The first that is not cheaper, but for rounding.
  std::vector<Partial>::iterator find(double steps) {
    return std::lower_bound(nests_.begin(), nests_.end(), steps * (1 - equal),
                            [](const Partial& nest, double price) { return nest.steps < price; });
  }

  std::size_t width_;
  bool full_ = false;
  std::vector<Partial> nests_;
};

class BeamSearch {
 public:
  BeamSearch(const Gemm& gemm, const BeamPlan& plan) : gemm_(gemm), plan_(plan) {
    const NestDraft all = NestDraft::of_small_factors(gemm);
    for (std::size_t d = 0; d < 3; ++d) {
      std::map<std::uint64_t, std::uint8_t> counts;
      for (std::size_t i = 0; i < all.cuts[d].loops; ++i) ++counts[all.cuts[d].trips[i]];
      for (const auto& [factor, count] : counts) {
        factors_[d].push_back(factor);
        available_[d].push_back(count);
      }
    }
  }

  BeamFound run() {
    BeamFound found;
    Block nothing;
    for (std::size_t d = 0; d < 3; ++d) nothing[d].resize(factors_[d].size());
    std::map<Block, Beam> now;
    make_draft({}, {1, 1, 1});
    even_reads(draft_, reads_);
    now.try_emplace(nothing, 1).first->second.add({even_steps(reads_), {}});
    // Blocks of one more loop each time; all ways to a block come from blocks of one loop less.
    while (now.size() > 1 || now.begin()->first != available_) {
      std::map<Block, Beam> next;
      for (const auto& [block, beam] : now) {
        for (std::size_t d = 0; d < 3; ++d) {
          for (std::size_t f = 0; f < factors_[d].size(); ++f) {
            if (block[d][f] == available_[d][f]) continue;
            Block larger = block;
            ++larger[d][f];
            Beam& target = next.try_emplace(larger, plan_.width).first->second;
            if (!extend(beam, larger, {static_cast<std::uint8_t>(d), static_cast<std::uint8_t>(factors_[d][f]), 0}, target)) {
              return {{}, 0, evaluations_, false};
            }
          }
        }
      }
      for (const auto& [block, beam] : now) cut_ = cut_ || beam.full();
      now = std::move(next);
    }
    constexpr std::size_t most_found = 8;
    const std::vector<Partial>& nests = now.begin()->second.nests();
    for (std::size_t i = 0; i < std::min(most_found, nests.size()); ++i) {
      make_draft(nests[i], gemm_);
      found.drafts.push_back(draft_);
    }
    found.steps = nests.front().steps;
    found.evaluations = evaluations_;
    found.saturated = !cut_ && !now.begin()->second.full();
    return found;
  }

 private:
  /// The block's own GEMM; a block that is as large as a dimension, or larger, is the dimension.
  Gemm gemm_of(const Block& block) const {
    std::array<std::uint64_t, 3> sizes{};
    for (std::size_t d = 0; d < 3; ++d) {
      Wide size = 1;
      for (std::size_t f = 0; f < factors_[d].size(); ++f) {
        for (std::uint8_t i = 0; i < block[d][f]; ++i) size *= factors_[d][f];
      }
      sizes[d] = static_cast<std::uint64_t>(std::min<Wide>(size, size_of(gemm_, all_dimensions[d])));
    }
    return {sizes[0], sizes[2], sizes[1]};
  }

  void make_draft(const Partial& nest, const Gemm& gemm) {
    draft_.order.loops = 0;
    draft_.order.marks.fill(0);
    draft_.order.through = plan_.through;
    draft_.order.reflected = plan_.reflected;
    for (const Dimension dimension : all_dimensions) {
      draft_.of(dimension).size = size_of(gemm, dimension);
      draft_.of(dimension).loops = 0;
    }
    for (std::size_t i = nest.loops.size(); i-- > 0;) {
      const MarkedLoop& loop = nest.loops[i];
      const std::size_t at = draft_.order.loops++;
      draft_.order.dimensions[at] = loop.dimension;
      draft_.order.marks[at + 1] = loop.marks;
      Cuts& cuts = draft_.cuts[loop.dimension];
      cuts.trips[cuts.loops++] = loop.trips;
    }
    for (Cuts& cuts : draft_.cuts) cuts.update();
  }

  /// Puts `loop` around each nest of the beam, with all sets of marks. Says whether there was time for it.
  bool extend(const Beam& beam, const Block& block, MarkedLoop loop, Beam& target) {
    constexpr unsigned sets_of_marks = 8;
    const Gemm gemm = gemm_of(block);
    for (const Partial& inner : beam.nests()) {
      if (plan_.stop != nullptr && plan_.stop->requested()) return false;
      if (evaluations_ + sets_of_marks > plan_.most_evaluations) return false;
      Partial outer = inner;
      outer.loops.push_back(loop);
      make_draft(outer, gemm);
      for (unsigned marks = 0; marks < sets_of_marks; ++marks) {
        draft_.order.marks[1] = static_cast<std::uint8_t>(marks);
        even_reads(draft_, reads_);
        outer.steps = even_steps(reads_);
        ++evaluations_;
        if (!target.takes(outer.steps)) continue;
        outer.loops.back().marks = static_cast<std::uint8_t>(marks);
        target.add(outer);
      }
    }
    return true;
  }

  Gemm gemm_;
  BeamPlan plan_;
  std::array<std::vector<std::uint64_t>, 3> factors_;  // distinct, by dimension
  Block available_;
  NestDraft draft_;
  EvenReads reads_;
  std::uint64_t evaluations_ = 0;
  bool cut_ = false;
};

}  // namespace

BeamFound search_nest_beam(const Gemm& gemm, const BeamPlan& plan) { return BeamSearch(gemm, plan).run(); }

}  // namespace joulegrid
