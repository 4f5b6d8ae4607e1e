#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/report/comparison_report.h"
#include "joulegrid/report/movement_report.h"

namespace joulegrid::cli {

namespace {

/// YYYY-MM-DD, a day that exists.
std::string parse_date(const std::string& text) {
  const auto number = [&](std::size_t first, std::size_t count) {
    int value = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      value = value * 10 + (text[i] - '0');
    }
    return value;
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4) > 0 && number(5, 2) > 0 && number(8, 2) > 0) {
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    if (date.ok()) return text;
  }
  throw Error(ErrorCode::bad_input, "expected a date like 2026-09-02, found " + in_quotes(text), "--date");
}

struct ReportMovement {
  OutputOptions output;
  ScaleOption scale;
  ThreadsOption threads;
  bool beyond = false;
  std::string dims, examples, batches, gemm, date, seed, evaluations;

  MovementSubject subject() const {
    MovementSubject subject;
    if (!dims.empty()) subject.widths = parse_sizes(dims, "--dims");
    if (!examples.empty()) subject.examples = parse_size(examples, "--examples");
    if (!batches.empty()) {
      subject.batches.clear();
      for (const std::string& batch : split(batches, ',')) subject.batches.push_back(parse_batch(batch, "--batches"));
    }
    if (!gemm.empty()) {
      const std::vector<std::uint64_t> sizes = parse_sizes(gemm, "--gemm");
      if (sizes.size() != 3) throw Error(ErrorCode::bad_input, "expected M,K,N, found " + in_quotes(gemm), "--gemm");
      subject.reference = {sizes[0], sizes[1], sizes[2]};
    }
    if (!date.empty()) subject.date = parse_date(date);
    subject.scale = scale.scale();
    if (beyond) {
      subject.beyond = NestSearchPlan{};
      if (!seed.empty()) subject.beyond->seed = parse_count(seed, "--seed");
      if (!evaluations.empty()) subject.beyond->evaluations = parse_size(evaluations, "--evaluations");
    }
    return subject;
  }

  void run() const {
    const MovementSubject about = subject();
    output.check();
    const Stop& stop = stop_on_signals();
    ProgressLine line;
    MovementReportOptions options;
    options.stop = &stop;
    options.progress = [&](const std::string& batch, const DescentProgress& at) {
      line.show("batch " + batch + ", from " + start_name(at.start) + ", sweep " + std::to_string(at.sweep));
    };
    options.threads = threads.threads();
    options.nest_progress = [&](const std::string& batch, const NestSearchProgress& at) {
      line.show("batch " + batch + ", nests, round " + std::to_string(at.round) + ": best " +
                si(about.scale.joules(at.best).count(), "J", 5));
    };
    const MovementReport report = movement_report(about, options);
    output.write(movement_document(report), [&](const TextStyle& style) { return movement_text(report, style); });
    if (!report.complete) throw Interrupted{};
  }
};

/// Energy documents into one.
struct ReportEnergy {
  OutputOptions output;
  std::vector<std::string> files;

  void run() const {
    output.check();
    std::vector<NamedDocument> documents;
    for (const std::string& file : files) documents.push_back({file, read_file(file)});
    const std::string document = joined_energy_document(documents);
    const ReportFile joined_file = parse_report_file(document, files.front());
    output.write(document, [&](const TextStyle& style) { return comparison_text(comparison_report({joined_file}), style); });
  }
};

/// Documents side by side.
struct ReportCompare {
  OutputOptions output;
  std::vector<std::string> files;
  std::string baseline, csv;

  void run() const {
    output.check();
    if (!csv.empty()) require_writable(csv);
    std::vector<ReportFile> documents;
    for (const std::string& file : files) documents.push_back(parse_report_file(read_file(file), file));
    std::optional<EnergyFile> base;
    if (!baseline.empty()) {
      ReportFile document = parse_report_file(read_file(baseline), baseline);
      if (!std::holds_alternative<EnergyFile>(document))
        throw Error(ErrorCode::bad_input, "the baseline is no energy document", baseline);
      base = std::get<EnergyFile>(std::move(document));
    }
    const ComparisonReport report = comparison_report(documents, base);
    std::vector<NamedText> others;
    if (!csv.empty()) others.push_back({csv, comparison_csv(report)});
    output.write(
        comparison_document(report), [&](const TextStyle& style) { return comparison_text(report, style); }, others);
  }
};

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* report = app.add_subcommand("report", "Write a report");
  report->require_subcommand(1);
  example(*report, "joulegrid report movement");

  CLI::App* movement = report->add_subcommand(
      "movement", "Movement energy of an inference epoch by batch size; the defaults give the published report");
  const auto of = std::make_shared<ReportMovement>();
  movement->add_option("--dims", of->dims, "widths of the network (784,2500,2000,1500,1000,500,10)")->type_name("W,W,…");
  movement->add_option("--examples", of->examples, "examples of the epoch (60000)")->type_name("E");
  movement->add_option("--batches", of->batches, "rows per call, or full (full,64,16,4,1)")->type_name("B,B,…");
  movement->add_option("--gemm", of->gemm, "matrix product of the MAC-count-only projection (8192,8192,8192)")
      ->type_name("M,K,N");
  movement->add_option("--date", of->date, "date of the report (that of the model, 2026-09-02)")->type_name("YYYY-MM-DD");
  CLI::Option* with_nests = movement->add_flag("--beyond", of->beyond, "add, per batch, the best nests found, and the floor");
  movement->add_option("--seed", of->seed, "beyond: of the search's random choices (1)")->type_name("S")->needs(with_nests);
  movement->add_option("--evaluations", of->evaluations, "beyond: prices of changed nests for each batch (4000000)")
      ->type_name("N")
      ->needs(with_nests);
  of->threads.add_to(*movement, "search nests")->needs(with_nests);
  of->scale.add_to(*movement);
  of->output.add_to(*movement);
  example(*movement, "joulegrid report movement --dims 784,300,100,10 --examples 10000 --batches full,100,1");
  movement->callback([of] { of->run(); });

  CLI::App* energy = report->add_subcommand("energy", "One energy document from several that `measure` has written");
  const auto of_energy = std::make_shared<ReportEnergy>();
  energy->add_option("FILE", of_energy->files, "energy documents of one machine")->required()->type_name("FILE…");
  of_energy->output.add_to(*energy);
  example(*energy, "joulegrid report energy gemm.json mlp.json --output energy.json");
  energy->callback([of_energy] { of_energy->run(); });

  CLI::App* compare =
      report->add_subcommand("compare", "Measured and modelled energies side by side, of any number of documents");
  const auto of_compare = std::make_shared<ReportCompare>();
  compare->add_option("FILE", of_compare->files, "energy and movement documents, told apart by their content")
      ->required()
      ->type_name("FILE…");
  compare->add_option("--baseline", of_compare->baseline, "energy document to mark changes against")->type_name("FILE");
  compare->add_option("--csv", of_compare->csv, "also write the figures to this file, as comma-separated values")
      ->type_name("FILE");
  of_compare->output.add_to(*compare);
  example(*compare, "joulegrid report compare energy.json movement.json");
  compare->callback([of_compare] { of_compare->run(); });
}

}  // namespace joulegrid::cli
