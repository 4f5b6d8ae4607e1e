// Speed of the search for nests: one price with even reads, one step of annealing, one exact price. docs/performance.md has
// the figures.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "bench/allocations.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/nest_epoch.h"
#include "joulegrid/schedule/nest_reads.h"
#include "joulegrid/search/epoch_even_steps.h"
#include "joulegrid/search/even_reads.h"
#include "joulegrid/search/nest_annealing.h"

namespace joulegrid {
namespace {

const Gemm large{8192, 8192, 8192};

/// A dozen buffers, with loops of few or of two trips.
const char* const nests_with_a_dozen_buffers[] = {
    "through reflected k4 m3 [B] m3 n7 n3 [A] k8 [C] m5 [B] m2 n2 n3 [A] k8 [C] m8 [B] n3 n2 n2 [A] k2 k8 [C] m5 m3 [B] n2 n3 "
    "[A] "
    "k2 [C]",
    "through reflected n2 n2 k2 k2 k2 m2 m2 m2 m2 [B] n2 n2 n2 [A] k2 k2 k2 [C] m2 m2 m2 [B] n2 n2 n2 [A] k2 k2 k2 [C] m2 m2 "
    "m2 "
    "[B] n2 n2 n2 [A] k2 k2 k2 [C] m2 m2 m2 [B] n2 n2 [A] k2 [C]"};

NestDraft draft_with_a_dozen_buffers(const benchmark::State& state) {
  return NestDraft::of(large, parse_nest(nests_with_a_dozen_buffers[state.range(0)], "nest", large));
}

void evaluate_gemm(benchmark::State& state) {
  NestDraft draft = draft_with_a_dozen_buffers(state);
  EvenReads reads;
  for (auto _ : state) {
    benchmark::DoNotOptimize(draft);
    even_reads(draft, reads);
    benchmark::DoNotOptimize(even_steps(reads));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(evaluate_gemm)->ArgName("of_two_trips")->Arg(0)->Arg(1);

/// A change, its price, and whether it is taken; the nests that annealing goes through have some 25 buffers.
void anneal_one_gemm(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  constexpr std::uint64_t evaluations = 200'000;
  std::uint64_t sequence = 0;
  std::size_t most_allocations = 0;
  for (auto _ : state) {
    Random random(1, sequence++);
    NestDraft start = NestDraft::of_small_factors({size, size, size});
    shuffle(start, random);
    const std::size_t before = bench::allocations();
    benchmark::DoNotOptimize(anneal_gemm(start, {evaluations, 0.02}, random));
    most_allocations = std::max(most_allocations, bench::allocations() - before);
  }
  state.counters["allocations_in_all"] = static_cast<double>(most_allocations);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(evaluations));
}
BENCHMARK(anneal_one_gemm)->Arg(16)->Arg(512)->Arg(8192)->Unit(benchmark::kMillisecond);

void anneal_epoch_of_nests(benchmark::State& state) {
  const Epoch epoch({784, 2500, 2000, 1500, 1000, 500, 10}, 60000, static_cast<std::uint64_t>(state.range(0)));
  constexpr std::uint64_t evaluations = 200'000;
  Random random(1, 0);
  std::vector<NestDraft> drafts;
  for (const CallGroup& group : epoch.call_groups()) {
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      NestDraft start = NestDraft::of_small_factors(epoch.gemm(group.rows, layer));
      shuffle(start, random);
      drafts.push_back(anneal_gemm(start, {20000, 0.02}, random).drafts.front());
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(anneal_epoch(epoch, drafts, {evaluations, 0.004}, random));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(evaluations));
}
BENCHMARK(anneal_epoch_of_nests)->ArgName("batch")->Arg(1200)->Arg(1024)->Unit(benchmark::kMillisecond);

void price_gemm_exactly(benchmark::State& state) {
  const Nest nest = draft_with_a_dozen_buffers(state).nest();
  for (auto _ : state) benchmark::DoNotOptimize(pack(nest_overlays(large, nest)));
}
BENCHMARK(price_gemm_exactly)->ArgName("of_two_trips")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace joulegrid
