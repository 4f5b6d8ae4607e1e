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
#include "joulegrid/bound/floor.h"
#include "joulegrid/report/price_report.h"
#include "joulegrid/schedule/schedule_file.h"
#include "joulegrid/search/batch_search.h"
#include "joulegrid/search/nest_search.h"
#include "joulegrid/search/tile_proof.h"

namespace joulegrid::cli {

namespace {

struct Common {
  OutputOptions output;
  ScaleOption scale;
  CandidatesOption candidates;
  ThreadsOption threads;
  std::string family = "nest", method, budget, evaluations, seed, save;
  bool prove = false;

  void add_to(CLI::App& command) {
    command.add_option("--family", family, "schedule family to search: loop nests (the default) or flat tiles")
        ->check(CLI::IsMember({"nest", "sa_cache"}))
        ->type_name("nest|sa_cache");
    command.add_option("--method", method, "nest: annealing (the default), or beams of growing width")
        ->check(CLI::IsMember({"annealing", "beam"}))
        ->type_name("annealing|beam");
    command.add_option("--budget", budget, "end after this long: 30s, 500ms, 2min (nest: 10s; sa_cache: when done)")
        ->type_name("TIME");
    command.add_option("--evaluations", evaluations, "nest: end after so many prices of changed nests")->type_name("N");
    command.add_option("--seed", seed, "nest: of the random choices (1)")->type_name("S");
    threads.add_to(command, "search nests");
    candidates.add_to(command);
    command.add_option("--save", save, "write the schedule to this file, for `model --schedule`")->type_name("FILE");
    command.add_flag("--prove", prove, "prove that no tiles are cheaper, or say how much cheaper they could be at most");
    scale.add_to(command);
    output.add_to(command);
  }

  bool nests() const { return family == "nest"; }

  /// What ends the search: a signal, or the end of the budget, which begins here.
  const Stop& stop() const {
    Stop& stop = stop_on_signals();
    if (!budget.empty()) {
      stop.set_deadline(Stop::Clock::now() + parse_duration(budget, "--budget"));
    } else if (nests() && evaluations.empty()) {
      stop.set_deadline(Stop::Clock::now() + std::chrono::seconds(10));
    }
    return stop;
  }

  /// Everything that can be refused before the work.
  void check() const {
    const auto only_for = [&](const std::string& value, const char* option, const char* of) {
      if (!value.empty() && family != of) {
        throw Error(ErrorCode::bad_input, "is an option of --family " + std::string(of), option);
      }
    };
    only_for(candidates.name, "--candidates", "sa_cache");
    only_for(method, "--method", "nest");
    only_for(evaluations, "--evaluations", "nest");
    only_for(seed, "--seed", "nest");
    only_for(threads.count, "--threads", "nest");
    (void)scale.scale();
    (void)nest_options();
    if (!budget.empty()) (void)parse_duration(budget, "--budget");
    if (prove && nests()) throw Error(ErrorCode::bad_input, "is an option of --family sa_cache", "--prove");
    output.check();
    if (!save.empty()) require_writable(save);
    if (!save.empty() && save == output.file) {
      throw Error(ErrorCode::bad_input, "the schedule and the document need files of their own", "--save");
    }
  }

  NestSearchOptions nest_options() const {
    NestSearchOptions options;
    if (method == "beam") options.method = NestMethod::beam;
    if (method == "beam" && !seed.empty()) throw Error(ErrorCode::bad_input, "beams have nothing random", "--seed");
    if (!seed.empty()) options.seed = parse_count(seed, "--seed");
    if (!evaluations.empty()) options.evaluations = parse_count(evaluations, "--evaluations");
    options.threads = threads.threads();
    return options;
  }

  /// Searches the nests of the cheapest epoch; `gemm` is what is asked for, if no epoch is.
  void search_nests_of(const std::vector<Epoch>& epochs, const std::optional<Gemm>& gemm = std::nullopt) const {
    const Stop& end = stop();
    const GridSteps floor = floor_of(gemm ? Problem(*gemm) : Problem(epochs.front())).steps;
    ProgressLine line;
    NestSearchOptions options = nest_options();
    options.stop = &end;
    options.progress = [&](const NestSearchProgress& at) {
      std::string text =
          "round " + std::to_string(at.round) + ", " + si(static_cast<Wide>(at.evaluations), "") + " evaluations";
      if (at.epochs > 1) text += ", " + std::to_string(at.epochs) + " batches";
      text += ": best " + si(scale.scale().joules(at.best).count(), "J", 5);
      if (epochs.size() > 1) text += " at batch " + to_string(at.batch);
      line.show(text + ", " + si(rounded_quotient(at.best.count(), floor.count()), "") + " times the floor");
    };
    const auto begin = std::chrono::steady_clock::now();
    const NestsFound found = search_nests(epochs, options);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    PriceReport report = price_report(gemm ? Problem(*gemm) : Problem(found.epoch), found.nests, scale.scale());
    report.search = SearchFacts{.evaluations = found.evaluations,
                                .seconds = time.count(),
                                .complete = !end.interrupted(),
                                .nests = NestSearchFacts{options.method, options.seed, found.rounds}};
    write(report);
    if (end.interrupted()) throw Interrupted{};
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
    if (nests()) return search_nests_of({Epoch::of(gemm)}, gemm);
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
    const std::vector<std::uint64_t> widths = parse_sizes(arguments.dims, "--dims");
    const std::uint64_t examples = parse_size(arguments.examples, "--examples");
    check();
    if (prove && arguments.batch == "auto")
      throw Error(ErrorCode::bad_input, "a proof is of one batch; --batch auto has many", "--prove");
    const std::vector<std::uint64_t> batches =
        arguments.batch == "auto" ? batch_candidates(examples)
                                  : std::vector<std::uint64_t>{parse_batch(arguments.batch, "--batch").value_or(examples)};
    if (nests()) {
      std::vector<Epoch> epochs;
      for (const std::uint64_t batch : batches) epochs.emplace_back(widths, examples, batch);
      return search_nests_of(epochs);
    }
    const Stop& end = stop();
    ProgressLine line;
    SaCacheSearchOptions options{candidates.candidates(), &end, {}};
    const auto begin = std::chrono::steady_clock::now();
    const auto progress = [&](const std::string& batch, const DescentProgress& at) {
      line.show("batch " + batch + ", from " + start_name(at.start) + ", sweep " + std::to_string(at.sweep) + ": best " +
                si(scale.scale().joules(at.best).count(), "J", 5));
    };
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
  example(*search, "joulegrid search gemm 8192 8192 8192 --budget 30s");

  CLI::App* gemm = search->add_subcommand("gemm", "Find a cheap schedule of one matrix product");
  const auto of_gemm = std::make_shared<SearchGemm>();
  of_gemm->arguments.add_to(*gemm);
  of_gemm->add_to(*gemm);
  example(*gemm, "joulegrid search gemm 8192 8192 8192 --budget 30s --save best.json");
  gemm->callback([of_gemm] { of_gemm->run(); });

  CLI::App* mlp = search->add_subcommand("mlp", "Find a cheap schedule of an inference epoch");
  const auto of_mlp = std::make_shared<SearchMlp>();
  of_mlp->arguments.add_to(*mlp, "rows per call, full, or auto: the cheapest of all divisors of E and powers of two");
  of_mlp->add_to(*mlp);
  example(*mlp, "joulegrid search mlp --dims 784,2500,10 --examples 60000 --batch auto --budget 1min --save best.json");
  mlp->callback([of_mlp] { of_mlp->run(); });
}

}  // namespace joulegrid::cli
