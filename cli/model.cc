#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/report/price_report.h"
#include "joulegrid/schedule/schedule_file.h"

namespace joulegrid::cli {

namespace {

struct Common {
  OutputOptions output;
  ScaleOption scale;

  void add_to(CLI::App& command) {
    scale.add_to(command);
    output.add_to(command);
  }

  /// What is priced, and how it was found where the search for it was interrupted.
  struct Choice {
    Schedule schedule;
    std::optional<SearchFacts> interrupted{};
  };

  void price(const Problem& problem, const Choice& choice, const EnergyScale& energy) const {
    PriceReport report = price_report(problem, choice.schedule, energy);
    report.search = choice.interrupted;
    output.write(price_document(report), [&](const TextStyle& style) { return price_text(report, style); });
    if (choice.interrupted) throw Interrupted{};
  }
};

struct ModelGemm : Common {
  GemmArguments arguments;
  GemmScheduleOptions options;

  void run() const {
    const Gemm gemm = arguments.gemm();
    const EnergyScale energy = scale.scale();
    output.check();
    price(gemm, choice(gemm), energy);
  }

  Choice choice(const Gemm& gemm) const {
    if (const std::optional<Schedule> given = options.schedule_of(gemm)) return {*given};
    SaCacheSearchOptions search;
    search.stop = &stop_on_signals();
    const auto begin = std::chrono::steady_clock::now();
    const GemmTile found = search_gemm_tile(gemm, search);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    Choice choice{EpochTiles{{found.tile}}};
    if (!found.complete) choice.interrupted = SearchFacts{Candidates::divisors, found.evaluations, time.count(), false};
    return choice;
  }
};

struct ModelMlp : Common {
  EpochArguments arguments;
  std::string schedule;

  void run() const {
    const Epoch epoch = arguments.epoch();
    const EnergyScale energy = scale.scale();
    output.check();
    price(epoch, choice(epoch), energy);
  }

  Choice choice(const Epoch& epoch) const {
    if (!schedule.empty()) return {read_schedule(read_file(schedule), schedule, epoch)};
    SaCacheSearchOptions search;
    search.stop = &stop_on_signals();
    const auto begin = std::chrono::steady_clock::now();
    const EpochTilesFound found = search_epoch_tiles(epoch, search);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    Choice choice{found.tiles};
    if (!found.complete) {
      choice.interrupted = SearchFacts{Candidates::divisors, found.evaluations, time.count(), false, found.start, found.sweeps};
    }
    return choice;
  }
};

}  // namespace

void add_model(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "Price the data movement of one schedule");
  model->require_subcommand(1);
  example(*model, "joulegrid model gemm 16 16 16 --tile 8,4");

  CLI::App* gemm = model->add_subcommand("gemm", "Price one matrix product C[M×N] = A[M×K]·B[K×N]");
  const auto of_gemm = std::make_shared<ModelGemm>();
  of_gemm->arguments.add_to(*gemm);
  of_gemm->options.add_to(*gemm);
  of_gemm->add_to(*gemm);
  example(*gemm, "joulegrid model gemm 8192 8192 8192 --tile 256,128");
  gemm->callback([of_gemm] { of_gemm->run(); });

  CLI::App* mlp = model->add_subcommand("mlp", "Price an inference epoch of an MLP; without a schedule, the best tiles found");
  const auto of_mlp = std::make_shared<ModelMlp>();
  of_mlp->arguments.add_to(*mlp);
  mlp->add_option("--schedule", of_mlp->schedule, "the schedule in this file, as `search --save` writes it")->type_name("FILE");
  of_mlp->add_to(*mlp);
  example(*mlp, "joulegrid model mlp --dims 784,2500,2000,1500,1000,500,10 --examples 60000 --batch 64");
  mlp->callback([of_mlp] { of_mlp->run(); });
}

}  // namespace joulegrid::cli
