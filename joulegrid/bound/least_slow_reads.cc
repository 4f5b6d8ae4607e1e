#include "joulegrid/bound/least_slow_reads.h"

#include <bit>
#include <unordered_map>

namespace joulegrid::testing {

namespace {

using Set = std::uint64_t;  // of values, as bits

constexpr Set one = 1;

struct State {
  Set fast = 0;
  Set known = 0;  ///< computed values and inputs

  bool operator==(const State&) const = default;
};

struct Hash {
  std::size_t operator()(const State& s) const {
    std::uint64_t h = s.fast * 0x9E3779B97F4A7C15ULL ^ (s.known + 0x632BE59BD9B4E019ULL) * 0xD1342543DE82EF95ULL;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }
};

/// One way to get a value: an operation on two others.
struct Step {
  std::uint32_t result, left, right;
  bool again_allowed;
};

class Search {
 public:
  Search(const SumsOfProducts& problem, unsigned fast_cells, unsigned extra_weight)
      : problem_(problem), fast_cells_(fast_cells), extra_(extra_weight) {
    for (const auto& element : problem.elements) {
      const std::uint32_t sets = 1U << element.products.size();
      const auto value = [&](std::uint32_t set) { return element.first_value + set - 1; };
      for (std::uint32_t set = 1; set < sets; ++set) {
        const bool again = element.output || set + 1 < sets;
        if (std::has_single_bit(set)) {
          const auto& product = element.products[static_cast<std::size_t>(std::countr_zero(set))];
          steps_.push_back({value(set), product.left, product.right, again});
        }
        for (std::uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set)
          steps_.push_back({value(set), value(part), value(set ^ part), again});
      }
    }
  }

  unsigned run() {
    const Set inputs = (one << problem_.inputs) - 1;
    std::vector<Set> starts{0};
    for (unsigned cell = 0; cell < fast_cells_; ++cell) {
      std::vector<Set> more;
      for (const Set s : starts)
        for (std::uint32_t v = static_cast<std::uint32_t>(std::bit_width(s)); v < problem_.inputs; ++v)
          more.push_back(s | one << v);
      if (more.empty()) break;
      starts = more;
    }
    for (const Set s : starts) reach({s, inputs}, 0);
    for (unsigned cost = 0;; ++cost) {
      for (std::size_t next = 0; next < buckets_.at(cost).size(); ++next) {
        const State state = buckets_[cost][next];
        if (best_.at(state) < cost) continue;
        if (state == end_) return cost;
        expand(state, cost);
      }
    }
  }

 private:
  void reach(State state, unsigned cost) {
    tidy(state);
    const auto [found, fresh] = best_.try_emplace(state, cost);
    if (!fresh && found->second <= cost) return;
    found->second = cost;
    if (buckets_.size() <= cost + 8) buckets_.resize(cost + 9);
    buckets_[cost].push_back(state);
  }

  /// Values that nothing needs any more are taken out of the fast cells; parts of a known whole sum count as known.
  void tidy(State& state) const {
    Set needed = 0;
    for (const auto& element : problem_.elements) {
      const Set parts = ((one << ((1U << element.products.size()) - 1)) - 1) << element.first_value;
      if ((state.known >> element.whole() & 1) != 0) {
        state.known |= parts;
        needed |= element.output ? one << element.whole() : 0;
      } else {
        needed |= parts;
        for (const auto& product : element.products) needed |= one << product.left | one << product.right;
      }
    }
    state.fast &= needed;
  }

  /// The value goes to a fast cell: a free one, or that of any other value.
  void put(State state, std::uint32_t value, unsigned cost) {
    if (static_cast<unsigned>(std::popcount(state.fast)) < fast_cells_) {
      reach({state.fast | one << value, state.known}, cost);
      return;
    }
    for (Set rest = state.fast; rest != 0; rest &= rest - 1) {
      const Set evicted = rest & (~rest + 1);
      reach({(state.fast ^ evicted) | one << value, state.known}, cost);
    }
  }

  void expand(const State& state, unsigned cost) {
    const auto slow = [&](std::uint32_t value) { return static_cast<unsigned>((state.fast >> value & 1) == 0); };
    bool done = true;
    unsigned exit_reads = 0;
    for (const auto& element : problem_.elements) {
      done = done && (state.known >> element.whole() & 1) != 0;
      if (element.output) exit_reads += slow(element.whole());
    }
    if (done) {
      const auto [found, fresh] = best_.try_emplace(end_, cost + exit_reads);
      if (fresh || found->second > cost + exit_reads) {
        found->second = cost + exit_reads;
        if (buckets_.size() <= cost + exit_reads + 8) buckets_.resize(cost + exit_reads + 9);
        buckets_[cost + exit_reads].push_back(end_);
      }
      return;
    }
    for (Set rest = state.known & ~state.fast; rest != 0; rest &= rest - 1)
      put(state, static_cast<std::uint32_t>(std::countr_zero(rest)), cost + 1 + extra_);
    for (const Step& step : steps_) {
      if ((state.known >> step.left & state.known >> step.right & 1) == 0) continue;
      const bool again = (state.known >> step.result & 1) != 0;
      if (again && (!step.again_allowed || slow(step.result) == 0)) continue;
      const unsigned reads = cost + slow(step.left) + slow(step.right) + (again ? 2 * extra_ : 0);
      const State after{state.fast, state.known | one << step.result};
      if (!again) reach(after, reads);
      put(after, step.result, reads);
    }
  }

  const SumsOfProducts& problem_;
  unsigned fast_cells_;
  unsigned extra_;
  std::vector<Step> steps_;
  std::unordered_map<State, unsigned, Hash> best_;
  std::vector<std::vector<State>> buckets_;
  const State end_{~Set{0}, ~Set{0}};
};

void number_values(SumsOfProducts& problem) {
  std::uint32_t next = problem.inputs;
  for (auto& element : problem.elements) {
    element.first_value = next;
    next += (1U << element.products.size()) - 1;
  }
}

}  // namespace

SumsOfProducts matrix_product(unsigned m, unsigned k, unsigned n) {
  SumsOfProducts problem;
  problem.inputs = m * k + k * n;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      auto& element = problem.elements.emplace_back();
      for (unsigned l = 0; l < k; ++l) element.products.push_back({i * k + l, m * k + l * n + j});
    }
  number_values(problem);
  return problem;
}

SumsOfProducts layer_chain(unsigned rows, const std::vector<unsigned>& widths) {
  SumsOfProducts problem;
  problem.inputs = rows * widths[0];
  std::vector<std::uint32_t> first_weight;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    first_weight.push_back(problem.inputs);
    problem.inputs += widths[layer] * widths[layer + 1];
  }
  std::vector<std::uint32_t> present(std::size_t{rows} * widths[0]);  // the values of the level below
  for (std::uint32_t v = 0; v < present.size(); ++v) present[v] = v;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const std::size_t first = problem.elements.size();
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned v = 0; v < widths[layer + 1]; ++v) {
        auto& element = problem.elements.emplace_back();
        element.output = layer + 2 == widths.size();
        for (unsigned u = 0; u < widths[layer]; ++u)
          element.products.push_back({present[row * widths[layer] + u], first_weight[layer] + u * widths[layer + 1] + v});
      }
    number_values(problem);
    present.clear();
    for (std::size_t e = first; e < problem.elements.size(); ++e) present.push_back(problem.elements[e].whole());
  }
  return problem;
}

unsigned least_slow_reads(const SumsOfProducts& problem, unsigned fast_cells, unsigned extra_weight) {
  return Search(problem, fast_cells, extra_weight).run();
}

}  // namespace joulegrid::testing
