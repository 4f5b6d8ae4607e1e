#include "joulegrid/workload/cpu/mlp_cpu.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/workload/cpu/aligned_array.h"
#include "joulegrid/workload/cpu/mlp_kernel.h"
#include "joulegrid/workload/cpu/thread_team.h"
#include "joulegrid/workload/mlp_epilogue.h"

namespace joulegrid {

namespace {

constexpr std::size_t input_offset = 128;  // of the first layer's stored bytes, mlp_offset_start

/// A layer and the memory that its packed form points to.
struct OwnedLayer {
  PackedMlpLayer packed;
  AlignedArray<std::int8_t> weights;
  AlignedArray<std::int32_t> starts;

  OwnedLayer(const MlpLayer& layer, bool first, int shift, bool vnni) {
    const std::uint64_t inputs = mlp_padded_width(layer.inputs);
    const std::uint64_t outputs = mlp_padded_width(layer.outputs);
    weights = AlignedArray<std::int8_t>(inputs * outputs);
    starts = AlignedArray<std::int32_t>(outputs);
    std::vector<std::int32_t> sums(layer.outputs, 0);
    for (std::uint64_t k = 0; k < layer.inputs; ++k) {
      for (std::uint64_t n = 0; n < layer.outputs; ++n) {
        const std::int8_t weight = layer.weights[k * layer.outputs + n];
        weights[mlp_packed_index(k, n, inputs)] = weight;
        sums[n] += weight;
      }
    }
    for (std::uint64_t n = 0; n < layer.outputs; ++n) {
      starts[n] = first ? mlp_offset_start(layer.biases[n], sums[n]) : layer.biases[n];
    }
    packed = {inputs, outputs, weights.data(), starts.data(), first, vnni, shift};
  }
};

/// Calls of at least so many rows per thread are shared by rows.
constexpr std::uint64_t least_rows_of_a_thread = 96;
/// About so many rows go through all layers at once: their values fit a core's second-level cache, and weights that come from
/// further away are used for all of them.
constexpr std::uint64_t most_rows_of_a_portion = 196;

}  // namespace

class CpuMlp::Engine {
 public:
  Engine(const Mlp& network, std::span<const std::int8_t> rows, const CpuMlpOptions& options)
      : logical_outputs_(network.outputs()),
        examples_(rows.size() / network.inputs()),
        vnni_(options.vnni && mlp_has_vnni()),
        team_(options.threads),
        barrier_(options.threads) {
    check(examples_ > 0 && rows.size() == examples_ * network.inputs(), "inputs are whole rows");
    const auto shift = static_cast<int>(network.options().shift);
    for (const MlpLayer& layer : network.layers()) {
      layers_.emplace_back(layer, layers_.empty(), shift, vnni_);
      logical_widths_.push_back(layer.outputs);
      if (layers_.size() < network.layers().size()) widest_ = std::max(widest_, layers_.back().packed.outputs);
    }
    in_stride_ = layers_.front().packed.inputs;
    out_stride_ = layers_.back().packed.outputs;
    inputs_ = AlignedArray<std::uint8_t>(examples_ * in_stride_);
    outputs_ = AlignedArray<std::uint8_t>(examples_ * out_stride_);
    for (std::uint64_t m = 0; m < examples_; ++m) {
      for (std::uint64_t k = 0; k < network.inputs(); ++k) {
        inputs_[m * in_stride_ + k] = static_cast<std::uint8_t>(rows[m * network.inputs() + k] + int{input_offset});
      }
    }
    const std::uint64_t threads = team_.threads();
    tile_rows_ = mlp_tile_rows(vnni_);
    shared_rows_ = std::min(examples_, threads * least_rows_of_a_thread);
    for (auto& values : shared_) values = AlignedArray<std::uint8_t>(shared_rows_ * widest_);
    for (unsigned i = 0; i < threads; ++i) {
      own_.push_back({AlignedArray<std::uint8_t>(most_rows_of_a_portion * widest_),
                      AlignedArray<std::uint8_t>(most_rows_of_a_portion * widest_)});
    }
  }

  void run(std::uint64_t batch, std::uint64_t epochs) {
    check(batch > 0 && batch <= examples_, "a batch is part of the examples");
    if (epochs == 0) return;
    for (auto& portions : portions_) portions.store(0);
    team_.run([&](unsigned thread) {
      std::uint64_t number = 0;  // of the call, over all epochs
      for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
        for (std::uint64_t row = 0; row < examples_; row += batch, ++number) {
          call(thread, number, row, std::min(batch, examples_ - row));
        }
      }
    });
  }

  std::vector<MlpLayerShares> layer_shares() {
    std::vector<MlpLayerShares> shares(layers_.size());
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    team_.run([&](unsigned thread) {
      std::vector<MlpLayerShares> mine(layers_.size());
      for (std::uint64_t row = 0; (row = next.fetch_add(most_rows_of_a_portion)) < examples_;) {
        through_all_layers(thread, row, std::min(most_rows_of_a_portion, examples_ - row), &mine);
      }
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        shares[i].values += mine[i].values;
        shares[i].zeros += mine[i].zeros;
        shares[i].saturated += mine[i].saturated;
      }
    });
    return shares;
  }

  std::vector<std::int8_t> outputs() const {
    std::vector<std::int8_t> rows;
    rows.reserve(examples_ * logical_outputs_);
    for (std::uint64_t m = 0; m < examples_; ++m) {
      const std::uint8_t* const row = outputs_.data() + m * out_stride_;
      for (std::uint64_t n = 0; n < logical_outputs_; ++n) rows.push_back(static_cast<std::int8_t>(row[n]));
    }
    return rows;
  }

  std::uint64_t examples() const { return examples_; }
  bool shares_rows(std::uint64_t rows) const { return rows > team_.threads() * least_rows_of_a_thread; }
  const char* instruction_set() const { return mlp_instruction_set(vnni_); }

 private:
  /// What thread `thread` does of one call; returns when all threads have done theirs.
  void call(unsigned thread, std::uint64_t number, std::uint64_t row, std::uint64_t rows) {
    if (shares_rows(rows)) {
      portions(thread, number, row, rows);
    } else {
      layer_by_layer(thread, row, rows);
    }
  }

  /// Takes portions of rows until there are none.
  void portions(unsigned thread, std::uint64_t number, std::uint64_t row, std::uint64_t rows) {
    std::atomic<std::uint64_t>& next = portions_[number % 2];
    if (thread == 0) portions_[(number + 1) % 2].store(0, std::memory_order_relaxed);  // nobody uses it before the barrier
    const std::uint64_t portion = portion_rows(rows);
    for (;;) {
      const std::uint64_t begin = next.fetch_add(portion, std::memory_order_relaxed);
      if (begin >= rows) break;
      through_all_layers(thread, row + begin, std::min(portion, rows - begin), nullptr);
    }
    barrier_.wait();
  }

  /// Rows of a portion: whole tiles, and work for every thread.
  std::uint64_t portion_rows(std::uint64_t rows) const {
    const std::uint64_t even = (rows + team_.threads() - 1) / team_.threads();
    const std::uint64_t tiles = (even + tile_rows_ - 1) / tile_rows_;
    return std::min(most_rows_of_a_portion / tile_rows_, tiles) * tile_rows_;
  }

  void through_all_layers(unsigned thread, std::uint64_t row, std::uint64_t rows, std::vector<MlpLayerShares>* shares) {
    const std::uint8_t* in = inputs_.data() + row * in_stride_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const PackedMlpLayer& layer = layers_[i].packed;
      const bool last = i + 1 == layers_.size();
      std::uint8_t* const out = last ? outputs_.data() + row * out_stride_ : own_[thread][i % 2].data();
      run_mlp_rows(layer, in, layer.inputs, rows, 0, layer.blocks(), out, layer.outputs);
      if (shares != nullptr) {
        for (std::uint64_t m = 0; m < rows; ++m) {
          const auto* const values = reinterpret_cast<const std::int8_t*>(out + m * layer.outputs);
          shares->at(i).add({values, logical_widths_[i]});
        }
      }
      in = out;
    }
  }

  /// A part of each layer's outputs, always the same one, whose weights stay in this core's caches where they fit.
  void layer_by_layer(unsigned thread, std::uint64_t row, std::uint64_t rows) {
    const std::uint8_t* in = inputs_.data() + row * in_stride_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const PackedMlpLayer& layer = layers_[i].packed;
      const bool last = i + 1 == layers_.size();
      std::uint8_t* const out = last ? outputs_.data() + row * out_stride_ : shared_[i % 2].data();
      const std::size_t begin = layer.blocks() * thread / team_.threads();
      const std::size_t end = layer.blocks() * (thread + 1) / team_.threads();
      if (begin < end) run_mlp_rows(layer, in, layer.inputs, rows, begin, end, out, layer.outputs);
      barrier_.wait();
      in = out;
    }
  }

  std::uint64_t logical_outputs_;
  std::uint64_t examples_;
  bool vnni_;
  std::vector<OwnedLayer> layers_;
  std::vector<std::uint64_t> logical_widths_;
  std::size_t widest_ = 0;  ///< of what lies between layers
  std::size_t in_stride_ = 0;
  std::size_t out_stride_ = 0;
  std::uint64_t tile_rows_ = 1;
  std::uint64_t shared_rows_ = 0;
  AlignedArray<std::uint8_t> inputs_;
  AlignedArray<std::uint8_t> outputs_;
  std::array<AlignedArray<std::uint8_t>, 2> shared_;            ///< between layers, of all threads
  std::vector<std::array<AlignedArray<std::uint8_t>, 2>> own_;  ///< between layers, of each thread
  std::array<std::atomic<std::uint64_t>, 2> portions_{};        ///< the next row to take, in even and odd calls
  ThreadTeam team_;
  SpinBarrier barrier_;
};

CpuMlp::CpuMlp(const Mlp& network, std::span<const std::int8_t> rows, const CpuMlpOptions& options)
    : engine_(std::make_unique<Engine>(network, rows, options)) {}
CpuMlp::~CpuMlp() = default;

std::uint64_t CpuMlp::examples() const { return engine_->examples(); }
void CpuMlp::run(std::uint64_t batch, std::uint64_t epochs) { engine_->run(batch, epochs); }
std::vector<std::int8_t> CpuMlp::outputs() const { return engine_->outputs(); }
std::vector<MlpLayerShares> CpuMlp::layer_shares() { return engine_->layer_shares(); }
bool CpuMlp::shares_rows(std::uint64_t rows) const { return engine_->shares_rows(rows); }
std::string CpuMlp::instruction_set() const { return engine_->instruction_set(); }

std::unique_ptr<Stage> make_cpu_mlp_stage(std::string name, std::shared_ptr<CpuMlp> network, std::uint64_t batch) {
  check(batch > 0 && batch <= network->examples(), "a batch is part of the examples");
  const auto pending = std::make_shared<std::uint64_t>(0);
  return make_stage(
      std::move(name), [pending](std::uint64_t repetitions) { *pending += repetitions; },
      [pending, network = std::move(network), batch] { network->run(batch, std::exchange(*pending, 0)); });
}

}  // namespace joulegrid
