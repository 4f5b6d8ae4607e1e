#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/arguments.h"
#include "cli/measure.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/workload/cpu/mlp_cpu.h"
#include "joulegrid/workload/memory.h"
#include "joulegrid/workload/mlp.h"
#include "joulegrid/workload/mlp_epilogue.h"
#include "joulegrid/workload/mnist.h"

namespace joulegrid::cli {

namespace {

constexpr std::uint64_t synthetic_seed = 1;
/// Examples whose results are compared with the plain loops before anything is measured.
constexpr std::uint64_t most_checked = 16;

[[noreturn]] void fail(const std::string& message, const std::string& option) {
  throw Error(ErrorCode::bad_input, message, option);
}

/// What the options ask for.
struct Asked {
  MlpOptions network;
  std::uint64_t examples = 0;
  std::vector<std::uint64_t> batches;
  bool mnist = true;
};

struct MeasureMlp {
  MeasureOptions options;
  ThreadsOption threads;
  std::string dims, batch, examples, input, mnist, shift, range, device;

  Asked asked() const {
    constexpr std::uint64_t all_of_mnist = 60'000;
    constexpr std::uint64_t most_shift = 31;
    constexpr std::uint64_t most_range = 128;
    Asked it;
    if (!dims.empty()) it.network.widths = parse_sizes(dims, "--dims");
    if (it.network.widths.size() < 2) fail("a network has at least two widths", "--dims");
    for (const std::uint64_t width : it.network.widths) {
      if (width > largest_mlp_width) fail(fmt::format("widths are at most {}", largest_mlp_width), "--dims");
    }
    it.examples = examples.empty() ? all_of_mnist : parse_size(examples, "--examples");
    const auto number = [](const std::string& text, const char* option, std::uint64_t least, std::uint64_t most,
                           unsigned otherwise) {
      if (text.empty()) return otherwise;
      const std::uint64_t value = parse_count(text, option);
      if (value < least || value > most) fail(fmt::format("expected a number from {} to {}", least, most), option);
      return static_cast<unsigned>(value);
    };
    it.network.shift = number(shift, "--shift", 0, most_shift, it.network.shift);
    it.network.weights_range = number(range, "--weights-range", 1, most_range, it.network.weights_range);
    it.mnist = input != "synthetic";
    if (!it.mnist && !mnist.empty()) fail("synthetic input reads no files", "--mnist");
    if (it.mnist && it.examples > all_of_mnist)
      fail("MNIST has 60000 training images; --input synthetic has any number", "--examples");
    for (const std::string& part : split(batch.empty() ? "16,full" : batch, ',')) {
      const std::uint64_t rows = parse_batch(part, "--batch").value_or(it.examples);
      if (rows > it.examples) fail(fmt::format("a batch of {} is larger than the {} examples", rows, it.examples), "--batch");
      if (std::find(it.batches.begin(), it.batches.end(), rows) != it.batches.end()) {
        fail(fmt::format("the batch of {} appears twice", rows), "--batch");
      }
      it.batches.push_back(rows);
    }
    return it;
  }

  bool anything_asked() const {
    return !dims.empty() || !batch.empty() || !examples.empty() || !input.empty() || !shift.empty() || !range.empty();
  }

  /// Everything of the subject that the options tell.
  static EnergySubject subject_of(const Asked& it) {
    const MlpOptions& network = it.network;
    EnergySubject subject;
    subject.command = "mlp";
    // The published section's name is for its network on its input.
    const bool published = it.mnist && network.widths == MlpOptions{}.widths;
    subject.section = published ? "ciresan_mnist_int8_inference" : "mlp_int8_inference";
    subject.operation = "epoch";
    std::vector<std::uint64_t> padded;
    for (const std::uint64_t width : network.widths) padded.push_back(mlp_padded_width(width));
    const Wide per_example = mlp_macs_per_row(network.widths);
    Json facts;
    facts["logical_dimensions"] = network.widths;
    facts["physical_width_padded_dimensions"] = padded;
    facts["examples"] = it.examples;
    facts["logical_MAC_per_example"] = per_example;
    facts["logical_MAC_per_epoch"] = checked_mul(per_example, it.examples);
    facts["weights"] =
        fmt::format("deterministic synthetic dense signed INT8: SplitMix64 with seed {}, uniform from -{} to {}; biases 0",
                    network.seed, network.weights_range, std::min(network.weights_range, 127U));
    facts["input"] =
        it.mnist ? "real MNIST training images, uint8 minus 128 then signed INT8"
                 : fmt::format("synthetic signed INT8: SplitMix64 with seed {}, uniform from -128 to 127", synthetic_seed);
    facts["epilogue"] =
        network.shift == 0
            ? "INT32 bias + ReLU + saturation to [0,127] + INT8 write after every layer"
            : fmt::format(
                  "INT32 bias + ReLU + arithmetic shift right by {} + saturation to [0,127] + INT8 write after every layer",
                  network.shift);
    facts["excluded_additionally"] = {"labels, loss, accuracy, backward, and optimizer",
                                      "initial uint8-to-signed-int8 conversion", "packing of weights and inputs",
                                      "model and workspace allocation"};
    subject.facts = facts.dump();
    subject.excluded = excluded_of_cpu();
    for (const std::uint64_t rows : it.batches) {
      Json of_stage;
      of_stage["calls_per_epoch"] = mlp_calls(it.examples, rows);
      of_stage["physical_padded_MAC_per_epoch"] = checked_mul(mlp_macs_per_row(padded), it.examples);
      subject.stages.push_back({stage_name(rows, it.examples), of_stage.dump()});
    }
    return subject;
  }

  static std::string stage_name(std::uint64_t rows, std::uint64_t examples) {
    return rows == examples ? fmt::format("single_full_batch{}", rows) : fmt::format("logical_batch{}", rows);
  }

  /// Examples × inputs.
  std::vector<std::int8_t> input_of(const Asked& it) const {
    const std::uint64_t width = it.network.widths.front();
    if (!it.mnist) return synthetic_mlp_input(it.examples, width, synthetic_seed);
    const MnistSet set = read_mnist(find_mnist(mnist), MnistPart::train);
    const std::uint64_t pixels = std::uint64_t{set.images.rows} * set.images.columns;
    if (width != pixels) {
      fail(fmt::format("MNIST's images have {} pixels, the network takes {}; --input synthetic has any number", pixels, width),
           "--dims");
    }
    if (it.examples > set.images.count) {
      fail(fmt::format("there are {} training images; --examples asks for {}", set.images.count, it.examples), "--mnist");
    }
    std::vector<std::int8_t> rows(it.examples * pixels);
    std::transform(set.images.pixels.begin(), set.images.pixels.begin() + static_cast<std::ptrdiff_t>(rows.size()),
                   rows.begin(), mnist_input);
    return rows;
  }

  /// Weights and examples, each as they were drawn and as the kernels read them.
  static Wide bytes_of(const Asked& it) {
    constexpr Wide copies = 2;
    Wide bytes = Wide{it.examples} * (mlp_padded_width(it.network.widths.front()) + mlp_padded_width(it.network.widths.back()));
    for (std::size_t i = 0; i + 1 < it.network.widths.size(); ++i) {
      bytes += Wide{mlp_padded_width(it.network.widths[i])} * mlp_padded_width(it.network.widths[i + 1]);
    }
    return copies * bytes;
  }

  /// Compares every batch with the first one, and some examples with the plain loops. What did the work, as JSON.
  static std::string checked_environment(const Asked& it, const Mlp& network, std::span<const std::int8_t> rows, CpuMlp& mlp,
                                         unsigned threads) {
    const std::uint64_t checked = std::min(it.examples, most_checked);
    const std::vector<std::int8_t> reference = mlp_reference(network, rows.first(checked * network.inputs())).back();
    const std::vector<MlpLayerShares> shares = mlp.layer_shares();
    const std::vector<std::int8_t> outputs = mlp.outputs();
    const auto differs = [] { throw Error(ErrorCode::system, "the network's results are not those of the plain loops"); };
    if (!std::equal(reference.begin(), reference.end(), outputs.begin())) differs();
    for (const std::uint64_t batch : it.batches) {
      mlp.run(batch, 1);
      if (mlp.outputs() != outputs) differs();
    }
    Json json;
    json["device"] = "cpu";
    json["threads"] = threads;
    json["instruction_set"] = mlp.instruction_set();
    json["examples_checked_against_plain_loops"] = checked;
    Json& layers = json["layers"] = Json::array();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Json layer;
      layer["outputs"] = network.layers()[i].outputs;
      layer["share_of_zeros"] = static_cast<double>(shares[i].zeros) / static_cast<double>(shares[i].values);
      layer["share_of_127s"] = static_cast<double>(shares[i].saturated) / static_cast<double>(shares[i].values);
      layers.push_back(std::move(layer));
    }
    return json.dump();
  }

  void run() const {
    options.check();
    const Asked it = asked();
    Workload work;
    work.subject = subject_of(it);
    if (const auto file = replayed_file(options.counter)) {
      replay_measurement(
          options, work.subject.command, anything_asked() ? std::optional(work.subject) : std::nullopt,
          [&](const MeasurePlan& recorded) { return options.plan(recorded); }, *file);
      return;
    }
    work.subject.plan = options.plan(options.defaults);
    require_memory(bytes_of(it), "a network of these weights and examples");
    const std::vector<std::int8_t> rows = input_of(it);
    const Mlp network(it.network);
    const auto mlp = std::make_shared<CpuMlp>(network, rows, CpuMlpOptions{threads.threads()});
    work.subject.environment = checked_environment(it, network, rows, *mlp, threads.threads());
    for (std::size_t i = 0; i < it.batches.size(); ++i) {
      StageSubject& stage = work.subject.stages[i];
      work.stages.push_back(make_cpu_mlp_stage(stage.name, mlp, it.batches[i]));
      Json facts = parse_json(stage.facts, "facts");
      facts["work_is_shared_by"] = mlp->shares_rows(it.batches[i]) ? "rows: each thread takes some through all layers"
                                                                   : "outputs: the threads meet after each layer";
      stage.facts = facts.dump();
    }
    measure_live(options, work);
  }
};

}  // namespace

void add_measure_mlp(CLI::App& measure) {
  CLI::App* mlp = measure.add_subcommand("mlp", "INT8 inference of a dense network, one epoch at each batch size");
  const auto of = std::make_shared<MeasureMlp>();
  mlp->add_option("--dims", of->dims, "widths of the network, input first (784,2500,2000,1500,1000,500,10)")
      ->type_name("W,W,…");
  mlp->add_option("--batch", of->batch, "rows per call, a stage for each (16,full)")->type_name("B,B,…");
  mlp->add_option("--examples", of->examples, "examples of the epoch (60000)")->type_name("E");
  mlp->add_option("--input", of->input, "mnist, the training images (the default), or synthetic")
      ->check(CLI::IsMember({"mnist", "synthetic"}))
      ->type_name("mnist|synthetic");
  mlp->add_option("--mnist", of->mnist, "folder of the MNIST files (JOULEGRID_MNIST of the environment, or usual ones)")
      ->type_name("DIR");
  mlp->add_option("--shift", of->shift, "arithmetic right shift of each sum before it saturates (0)")->type_name("S");
  mlp->add_option("--weights-range", of->range, "weights are uniform from -R to R, at most to 127 (128)")->type_name("R");
  mlp->add_option("--device", of->device, "what does the work: cpu (the default)")
      ->check(CLI::IsMember({"cpu"}))
      ->type_name("cpu");
  of->threads.add_to(*mlp, "work");
  of->options.add_to(*mlp);
  example(*mlp,
          "joulegrid measure mlp --dims 784,300,10 --examples 1000 --input synthetic --trials 3 --trial-seconds 0.5 \\\n"
          "    --idle-seconds 0.5");
  mlp->callback([of] { of->run(); });
}

}  // namespace joulegrid::cli
