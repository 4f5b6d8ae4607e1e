#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "joulegrid/search/batch_search.h"
#include "joulegrid/search/tile_proof.h"

namespace joulegrid::cli {

namespace {

struct Common {
  OutputOptions output;
  ScaleOption scale;
  CandidatesOption candidates;
  std::string family, budget, save;
  bool prove = false;

  void add_to(CLI::App& command) {
    command.add_option("--family", family, "schedule family to search")
        ->required()
        ->check(CLI::IsMember({"sa_cache"}))
        ->type_name("sa_cache");
    candidates.add_to(command);
    command.add_option("--budget", budget, "stop after this long with the best so far: 30s, 500ms, 2min (no limit)")
        ->type_name("TIME");
    command.add_option("--save", save, "write the schedule to this file, for `model --schedule`")->type_name("FILE");
    command.add_flag("--prove", prove, "prove that no tiles are cheaper, or say how much cheaper they could be at most");
    scale.add_to(command);
    output.add_to(command);
  }

  /// What ends the search: a signal, or the end of the budget, which begins here.
  const Stop& stop() const {
    if (budget.empty()) return stop_on_signals();
    const auto length = parse_duration(budget, "--budget");
    Stop& stop = stop_on_signals();
    stop.set_deadline(Stop::Clock::now() + length);
    return stop;
  }

  /// Everything that can be refused before the work.
  void check() const {
    (void)scale.scale();
    if (prove && family != "sa_cache") throw Error(ErrorCode::bad_input, "there are proofs for sa_cache only", "--prove");
    output.check();
    if (!save.empty()) require_writable(save);
    if (!save.empty() && save == output.file) {
      throw Error(ErrorCode::bad_input, "the schedule and the document need files of their own", "--save");
    }
  }

  void write(const PriceReport& report) const {
    std::vector<NamedText> others;
    if (!save.empty()) others.push_back({save, schedule_text(report.problem, report.schedule)});
    output.write(
        price_document(report), [&](const TextStyle& style) { return price_text(report, style); }, others);
  }
};

struct SearchGemm : Common {
  GemmArguments arguments;

  void run() const {
    const Gemm gemm = arguments.gemm();
    check();
    const Stop& end = stop();
    const auto begin = std::chrono::steady_clock::now();
    const GemmTile found = search_gemm_tile(gemm, {candidates.candidates(), &end});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    PriceReport report = price_report(gemm, EpochTiles{{found.tile}}, scale.scale());
    report.search = SearchFacts{candidates.candidates(), found.evaluations, time.count(), found.complete};
    // The search leaves out only what a bound excludes.
    if (prove) report.search->proof = ProofFacts{found.complete ? found.steps : report.floor, 0};
    write(report);
    if (end.interrupted()) throw Interrupted{};
  }
};

struct SearchMlp : Common {
  EpochArguments arguments;

  std::string proof_text(const ProofProgress& at) const {
    const auto best = static_cast<double>(at.best.count());
    return fmt::format("proof: best {}, proven within {:.3f} %, {} nodes", si(scale.scale().joules(at.best).count(), "J", 5),
                       100 * (1 - static_cast<double>(at.lower_bound.count()) / best), at.nodes);
  }

  void run() const {
    const bool choose_batch = arguments.batch == "auto";
    const std::vector<std::uint64_t> widths = parse_sizes(arguments.dims, "--dims");
    const std::uint64_t examples = parse_size(arguments.examples, "--examples");
    check();
    if (prove && choose_batch) throw Error(ErrorCode::bad_input, "a proof is of one batch; --batch auto has many", "--prove");
    const Stop& end = stop();
    ProgressLine line;
    SaCacheSearchOptions options{candidates.candidates(), &end, {}};
    const auto begin = std::chrono::steady_clock::now();
    const auto progress = [&](const std::string& batch, const DescentProgress& at) {
      line.show("batch " + batch + ", from " + start_name(at.start) + ", sweep " + std::to_string(at.sweep) + ": best " +
                si(scale.scale().joules(at.best).count(), "J", 5));
    };
    const std::vector<std::uint64_t> batches =
        choose_batch ? batch_candidates(examples)
                     : std::vector<std::uint64_t>{parse_batch(arguments.batch, "--batch").value_or(examples)};
    const BatchFound best = search_batches(widths, examples, batches, options, progress);
    std::optional<TileProof> proof;
    if (prove) {
      proof = prove_epoch_tiles(best.epoch, best.found.tiles,
                                {candidates.candidates(), &end, [&](const ProofProgress& at) { line.show(proof_text(at)); }});
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    PriceReport report = price_report(best.epoch, proof ? proof->tiles : best.found.tiles, scale.scale());
    report.search = SearchFacts{candidates.candidates(), best.evaluations, time.count(),
                                best.complete,           best.found.start, best.found.sweeps};
    if (proof) {
      report.search->evaluations += proof->evaluations;
      report.search->complete = proof->optimal();
      report.search->proof = ProofFacts{std::max(proof->lower_bound, report.floor), proof->nodes};
    }
    write(report);
    if (end.interrupted()) throw Interrupted{};
  }
};

}  // namespace

void add_search(CLI::App& app) {
  CLI::App* search = app.add_subcommand("search", "Find a cheap schedule");
  search->require_subcommand(1);
  example(*search, "joulegrid search gemm 8192 8192 8192 --family sa_cache");

  CLI::App* gemm = search->add_subcommand("gemm", "Find the cheapest tile of one matrix product");
  const auto of_gemm = std::make_shared<SearchGemm>();
  of_gemm->arguments.add_to(*gemm);
  of_gemm->add_to(*gemm);
  example(*gemm, "joulegrid search gemm 8192 8192 8192 --family sa_cache --candidates all");
  gemm->callback([of_gemm] { of_gemm->run(); });

  CLI::App* mlp = search->add_subcommand("mlp", "Find cheap tiles of an inference epoch, by three-start coordinate descent");
  const auto of_mlp = std::make_shared<SearchMlp>();
  of_mlp->arguments.add_to(*mlp, "rows per call, full, or auto: the cheapest of all divisors of E and powers of two");
  of_mlp->add_to(*mlp);
  example(*mlp, "joulegrid search mlp --dims 784,2500,10 --examples 60000 --batch auto --family sa_cache --save best.json");
  mlp->callback([of_mlp] { of_mlp->run(); });
}

}  // namespace joulegrid::cli
