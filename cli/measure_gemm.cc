#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/measure.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/workload/cpu/cpu_gemm.h"

namespace joulegrid::cli {

namespace {

struct MeasureGemm {
  MeasureOptions options;
  ThreadsOption threads;
  std::string size, stages, values, value_seed, device;
  static constexpr std::uint64_t default_size = 8192;

  void add_to(CLI::App& command) {
    command.add_option("--size", size, fmt::format("n of n x n x n ({})", std::uint64_t{default_size}))->type_name("N");
    command.add_option("--stages", stages, "of " + joined(cpu_gemm_names(), ",") + " (all)")->type_name("LIST");
    command
        .add_option("--values", values,
                    "what the operands hold: uniform, normal, zeros, ones or sparse:P, P being the share of zeros (uniform)")
        ->type_name("NAME");
    command.add_option("--value-seed", value_seed, "of the operands' values (0)")->type_name("S");
    command.add_option("--device", device, "cpu or cuda (cpu)")->type_name("NAME");
    threads.add_to(command, "multiply");
    options.add_to(command);
  }

  GemmShape shape() const {
    const std::uint64_t n = size.empty() ? default_size : parse_size(size, "--size");
    return {n, n, n};
  }

  GemmValues operands() const {
    return parse_gemm_values(values.empty() ? "uniform" : values,
                             value_seed.empty() ? 0 : parse_count(value_seed, "--value-seed"), "--values");
  }

  std::vector<std::string> names() const {
    if (stages.empty()) return cpu_gemm_names();
    std::vector<std::string> names = split(stages, ',');
    const auto& known = cpu_gemm_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::find(known.begin(), known.end(), names[i]) == known.end()) {
        throw Error(ErrorCode::bad_input,
                    "there is no stage " + in_quotes(names[i]) + " on a CPU; there are " + joined(known, ", "), "--stages");
      }
      if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
          names.begin() + static_cast<std::ptrdiff_t>(i)) {
        throw Error(ErrorCode::bad_input, in_quotes(names[i]) + " is given twice", "--stages");
      }
    }
    return names;
  }

  void check_device() const {
    if (device.empty() || device == "cpu") return;
    if (device == "cuda") throw Error(ErrorCode::unavailable, "this build has no CUDA backend", "--device");
    throw Error(ErrorCode::bad_input, "expected cpu or cuda, not " + in_quotes(device), "--device");
  }

  /// Facts in the order of documents; where `asked_only`, those that an option asks for.
  Json facts(bool asked_only) const {
    Json facts;
    const GemmShape of = shape();
    if (!asked_only || !size.empty()) {
      facts["shape"] = {of.m, of.k, of.n};
      facts["MAC"] = of.mac();
      facts["conventional_operations"] = checked_mul(of.mac(), 2);
    }
    const GemmValues filled = operands();
    if (!asked_only || !values.empty()) facts["values"] = to_string(filled);
    if (!asked_only || !value_seed.empty()) facts["seed"] = filled.seed;
    if (!asked_only || !threads.count.empty()) facts["threads"] = threads.threads();
    return facts.is_null() ? Json::object() : facts;
  }

  EnergySubject subject(bool asked_only) const {
    EnergySubject subject;
    subject.command = "gemm";
    subject.section = "gemm_" + std::to_string(shape().n);
    subject.operation = "GEMM";
    subject.facts = facts(asked_only).dump();
    if (!asked_only || !stages.empty()) {
      for (const std::string& name : names()) subject.stages.push_back({name});
    }
    subject.excluded = {"library initialization", "allocation and warm-up", "filling and packing of the operands",
                        "whatever the counter does not include, such as other devices, cooling and facility"};
    return subject;
  }

  void run() const {
    options.check();
    check_device();
    if (const auto file = replayed_file(options.counter)) {
      replay_measurement(
          options, "gemm", subject(true), [&](const MeasurePlan& recorded) { return options.plan(recorded); }, *file);
      return;
    }
    Workload work;
    work.subject = subject(false);
    work.subject.plan = options.plan(options.defaults);
    Json environment = Json::object();
    auto products = make_cpu_gemms(names(), shape(), operands(), threads.threads());
    for (std::size_t i = 0; i < products.size(); ++i) {
      work.subject.stages[i].facts = products[i]->facts();
      environment.update(parse_json(products[i]->environment(), "environment"));
      work.stages.push_back(std::move(products[i]));
    }
    work.subject.environment = environment.dump();
    measure_live(options, work);
  }
};

}  // namespace

void add_measure_gemm(CLI::App& measure) {
  CLI::App* gemm = measure.add_subcommand("gemm", "Products of n x n matrices in FP32, BF16, INT8 and single bits");
  const auto of = std::make_shared<MeasureGemm>();
  of->add_to(*gemm);
  example(*gemm, "joulegrid measure gemm --size 1024 --stages int8,b1_and_popcount --trials 3 --trial-seconds 1");
  gemm->callback([of] { of->run(); });
}

}  // namespace joulegrid::cli
