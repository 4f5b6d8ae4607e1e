#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "joulegrid/report/floor_report.h"

namespace joulegrid::cli {

namespace {

struct Common {
  OutputOptions output;
  ScaleOption scale;

  void add_to(CLI::App& command) {
    scale.add_to(command);
    output.add_to(command);
  }

  void run(const Problem& problem) const {
    const EnergyScale energy = scale.scale();
    output.check();
    const FloorReport report = floor_report(problem, energy);
    output.write(floor_document(report), [&](const TextStyle& style) { return floor_text(report, style); });
  }
};

struct FloorGemm : Common {
  GemmArguments arguments;
};

struct FloorMlp : Common {
  EpochArguments arguments;
};

}  // namespace

void add_floor(CLI::App& app) {
  CLI::App* floor = app.add_subcommand("floor", "Prove what every classical schedule of a problem costs at least");
  floor->require_subcommand(1);
  example(*floor, "joulegrid floor gemm 16 16 16");

  CLI::App* gemm = floor->add_subcommand("gemm", "The floor under all classical schedules of C[M×N] = A[M×K]·B[K×N]");
  const auto of_gemm = std::make_shared<FloorGemm>();
  of_gemm->arguments.add_to(*gemm);
  of_gemm->add_to(*gemm);
  example(*gemm, "joulegrid floor gemm 8192 8192 8192");
  gemm->callback([of_gemm] { of_gemm->run(of_gemm->arguments.gemm()); });

  CLI::App* mlp = floor->add_subcommand("mlp", "The floor under all classical schedules of an MLP's inference epoch");
  const auto of_mlp = std::make_shared<FloorMlp>();
  of_mlp->arguments.batch = "full";
  of_mlp->arguments.add_to(*mlp, "rows per call, or full (full); changes nothing, the floor holds for any batch");
  mlp->get_option("--batch")->required(false);
  of_mlp->add_to(*mlp);
  example(*mlp, "joulegrid floor mlp --dims 784,2500,2000,1500,1000,500,10 --examples 60000");
  mlp->callback([of_mlp] { of_mlp->run(of_mlp->arguments.epoch()); });
}

}  // namespace joulegrid::cli
