// Speed of the movement model: packing, one epoch evaluation, the searches. docs/performance.md has the figures.
#include <benchmark/benchmark.h>

#include "joulegrid/grid/distance.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/report/movement_report.h"
#include "joulegrid/search/sa_cache_search.h"
#include "joulegrid/search/tile_pricer.h"

namespace joulegrid {
namespace {

Epoch published_epoch(std::uint64_t batch) { return {{784, 2500, 2000, 1500, 1000, 500, 10}, 60000, batch}; }

void distance_sums(benchmark::State& state) {
  Wide n = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(distance_sum(n));
    n = n * 7 % 999'999'937;
  }
}
BENCHMARK(distance_sums);

/// Naming, sorting and placing all regions of an epoch, with every layer's share.
void pack_epoch(benchmark::State& state) {
  const Epoch epoch = published_epoch(static_cast<std::uint64_t>(state.range(0)));
  const std::vector<Overlay> overlays = sa_cache_overlays(epoch, search_epoch_tiles(epoch).tiles).all();
  for (auto _ : state) benchmark::DoNotOptimize(pack(overlays));
}
BENCHMARK(pack_epoch)->Arg(60000)->Arg(64);

/// The price of an epoch with one tile changed: what a coordinate descent does.
void evaluate_epoch(benchmark::State& state) {
  const Epoch epoch = published_epoch(static_cast<std::uint64_t>(state.range(0)));
  TilePricer pricer(epoch, search_epoch_tiles(epoch).tiles, {0, 2});
  std::uint64_t j = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(pricer.steps({16, j + 1}));
    j = (j + 7) % 1500;
  }
}
BENCHMARK(evaluate_epoch)->Arg(60000)->Arg(64);

void search_epoch(benchmark::State& state) {
  const Epoch epoch = published_epoch(static_cast<std::uint64_t>(state.range(0)));
  SaCacheSearchOptions options;
  options.candidates = state.range(1) == 0 ? Candidates::divisors : Candidates::all;
  for (auto _ : state) benchmark::DoNotOptimize(search_epoch_tiles(epoch, options));
}
BENCHMARK(search_epoch)->ArgNames({"batch", "all"})->ArgsProduct({{60000, 64, 1}, {0, 1}})->Unit(benchmark::kMillisecond);

void whole_movement_report(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(movement_document(movement_report({})));
}
BENCHMARK(whole_movement_report)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace joulegrid
