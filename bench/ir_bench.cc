// Speed of straight-line programs: reading, pricing, printing, running. docs/performance.md has the figures.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <random>
#include <string>
#include <vector>

#include "joulegrid/ir/gemm_program.h"
#include "joulegrid/ir/program.h"
#include "joulegrid/ir/run.h"
#include "joulegrid/ir/text_writer.h"

namespace joulegrid::ir {
namespace {

/// 73,284 instructions on 2,983 cells, the size of program for which the fastest public evaluator states its speed.
constexpr Gemm gemm{32, 31, 31};
constexpr Tile tile{8, 4};

const std::string& text() {
  static const std::string text = [] {
    MemorySink sink;
    TextWriter writer(sink);
    emit_gemm(gemm, tile, writer);
    writer.finish();
    return sink.text;
  }();
  return text;
}

const Program& program() {
  static const Program program = parse(text(), "bench");
  return program;
}

void count_text(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}

/// Every iteration did every instruction so many times.
void count_instructions(benchmark::State& state, std::size_t instances) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(instances * program().instruction_count()));
}

void read_and_price(benchmark::State& state) {
  for (auto _ : state) {
    MemorySource source(text());
    Pricer pricer;
    read_program(source, "bench", pricer);
    benchmark::DoNotOptimize(pricer.price());
  }
  count_text(state);
}
BENCHMARK(read_and_price);

void read_into_memory(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse(text(), "bench"));
  count_text(state);
}
BENCHMARK(read_into_memory);

void price_in_memory(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(price(program()));
  count_instructions(state, 1);
}
BENCHMARK(price_in_memory);

void print_text(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(print(program()));
  count_text(state);
}
BENCHMARK(print_text);

void emit_text(benchmark::State& state) {
  struct Nowhere final : ByteSink {
    void write(std::string_view bytes) override { benchmark::DoNotOptimize(bytes.data()); }
  } nowhere;
  for (auto _ : state) {
    TextWriter writer(nowhere);
    emit_gemm(gemm, tile, writer);
    writer.finish();
  }
  count_text(state);
}
BENCHMARK(emit_text);

/// Instance-instructions a second on one thread, with the instructions that `target` names.
template <typename Value>
void run_instances(benchmark::State& state, std::int64_t target, std::size_t instances) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  std::mt19937_64 random(1);
  std::vector<Value> inputs(instances * program().input_count());
  for (Value& value : inputs) value = static_cast<Value>(static_cast<std::int8_t>(random()));
  for (auto _ : state) benchmark::DoNotOptimize(run(program(), std::span<const Value>(inputs)));
  count_instructions(state, instances);
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

const bool registered = [] {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const std::string name = hwy::TargetName(target);
    for (const std::size_t instances : {1024UL, 16384UL}) {
      benchmark::RegisterBenchmark(("run_bytes/" + name + "/" + std::to_string(instances)).c_str(), run_instances<std::int8_t>,
                                   target, instances)
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::RegisterBenchmark(("run_integers/" + name + "/1024").c_str(), run_instances<std::int64_t>, target, 1024UL)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace joulegrid::ir
