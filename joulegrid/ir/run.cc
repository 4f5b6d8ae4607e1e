#include "joulegrid/ir/run.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "joulegrid/base/error.h"
#include "joulegrid/base/wide.h"
#include "joulegrid/ir/run_block.h"
#include "joulegrid/ir/transpose.h"

namespace joulegrid::ir {

namespace {

/// A block's cells should stay about a core's second-level cache: most programs use a few cells all the time and the others
/// rarely, so that it may be twice as large as the cache.
constexpr std::size_t cache_bytes = 2 << 20;

/// Past this many vectors an instruction's decoding costs nothing any more, and the nearest cells should stay within the
/// first-level cache.
constexpr std::size_t most_vectors = 8;

void require_byte_literals(const Program& program) {
  for (std::size_t i = 0; i < program.steps().size(); ++i) {
    const Program::Step& step = program.steps()[i];
    if (step.op == Op::set && !is_byte_literal(step.literal())) {
      throw Error(ErrorCode::bad_input, "the literal " + std::to_string(step.literal()) + " does not lie within -128..255",
                  "instruction " + std::to_string(i + 1));
    }
  }
}

/// One thread's cells and what it knows about the block it is at.
template <typename Value>
class Worker {
 public:
  Worker(const Program& program, std::size_t lanes)
      : program_(program),
        lanes_(lanes),
        cells_(hwy::AllocateAligned<Value>(program.addresses().size() * lanes)),
        faults_(lanes) {
    if (!cells_) throw Error(ErrorCode::system, "there is not enough memory to run this program");
  }

  /// Runs the instances from `first` on, `count` of them (at most the lanes).
  void run(std::uint64_t first, std::size_t count, std::span<const Value> inputs, std::span<Value> outputs) {
    load(inputs.subspan(first * program_.input_count(), count * program_.input_count()), count);
    faults_.clear();
    run_block(program_.steps(), {cells_.get(), lanes_, &faults_});
    store(outputs.subspan(first * program_.output_count(), count * program_.output_count()), count);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const FaultLog::Entry& entry = faults_.at(lane);
      if (entry.instruction != FaultLog::none) failures.push_back({first + lane, entry.instruction, entry.fault});
    }
  }

  std::vector<Failure> failures;

 private:
  Value* cell(std::size_t number) { return cells_.get() + number * lanes_; }

  void load(std::span<const Value> inputs, std::size_t count) {
    const std::size_t each = program_.input_count();
    const auto instance = [&](std::size_t lane) { return inputs.data() + lane * each; };
    transpose<Value>(
        instance, count, [this](std::size_t input) { return cell(input); }, each);
    for (std::size_t i = 0; i < each; ++i) std::fill(cell(i) + count, cell(i) + lanes_, Value{});
  }

  void store(std::span<Value> outputs, std::size_t count) {
    const std::size_t each = program_.output_count();
    const auto instance = [&](std::size_t lane) { return outputs.data() + lane * each; };
    transpose<Value>([this](std::size_t output) { return cell(program_.outputs()[output]); }, each, instance, count);
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (faults_.at(lane).instruction != FaultLog::none) std::fill_n(instance(lane), each, Value{});
    }
  }

  const Program& program_;
  std::size_t lanes_;
  hwy::AlignedFreeUniquePtr<Value[]> cells_;
  FaultLog faults_;
};

/// How many lanes a block has: whole vectors, no more than the cache holds or the instances need.
template <typename Value>
std::size_t block_lanes(const Program& program, std::uint64_t instances, unsigned threads, std::size_t vector_lanes) {
  const std::size_t of_cache = cache_bytes / (program.addresses().size() * vector_lanes * sizeof(Value));
  const std::uint64_t of_instances = ceil_div(ceil_div(instances, threads), vector_lanes);
  return vector_lanes * static_cast<std::size_t>(std::max<std::uint64_t>(1, std::min({of_cache, of_instances, most_vectors})));
}

template <typename Value>
RunResult<Value> run_all(const Program& program, std::span<const Value> inputs, const RunOptions& options,
                         std::size_t vector_lanes) {
  require_complete(program);
  if (inputs.size() % program.input_count() != 0) {
    throw Error(ErrorCode::bad_input, std::to_string(inputs.size()) + " input values are no whole number of instances of " +
                                          std::to_string(program.input_count()));
  }
  const std::uint64_t instances = inputs.size() / program.input_count();
  RunResult<Value> result;
  result.outputs.resize(instances * program.output_count());
  const unsigned threads = std::max(1U, options.threads);
  const std::size_t lanes = block_lanes<Value>(program, instances, threads, vector_lanes);
  const std::uint64_t blocks = ceil_div(instances, lanes);
  std::vector<Worker<Value>> workers;
  for (std::uint64_t i = std::min<std::uint64_t>(threads, blocks); i > 0; --i) workers.emplace_back(program, lanes);

  // Blocks are taken in order and finished once taken, so what is done when the run is stopped is a prefix.
  std::atomic<std::uint64_t> next_block{0};
  const auto work = [&](Worker<Value>& worker) {
    while (options.stop == nullptr || !options.stop->requested()) {
      const std::uint64_t block = next_block.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks) return;
      const std::uint64_t first = block * lanes;
      worker.run(first, static_cast<std::size_t>(std::min<std::uint64_t>(lanes, instances - first)), inputs, result.outputs);
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers.size(); ++i) others.emplace_back([&work, &worker = workers[i]] { work(worker); });
    if (!workers.empty()) work(workers.front());
  }
  result.instances = std::min(instances, next_block.load() * lanes);
  result.outputs.resize(result.instances * program.output_count());
  for (const Worker<Value>& worker : workers) {
    result.failures.insert(result.failures.end(), worker.failures.begin(), worker.failures.end());
  }
  std::sort(result.failures.begin(), result.failures.end(),
            [](const Failure& a, const Failure& b) { return a.instance < b.instance; });
  return result;
}

}  // namespace

const char* fault_name(Fault fault) {
  return fault == Fault::zero_divisor ? "a zero divisor" : "a result that does not fit 64 bits";
}

RunResult<std::int8_t> run(const Program& program, std::span<const std::int8_t> inputs, const RunOptions& options) {
  require_byte_literals(program);
  return run_all(program, inputs, options, byte_lanes());
}

RunResult<std::int64_t> run(const Program& program, std::span<const std::int64_t> inputs, const RunOptions& options) {
  return run_all(program, inputs, options, integer_lanes());
}

}  // namespace joulegrid::ir
