#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/counter/find_counters.h"
#include "joulegrid/report/counters_report.h"

namespace joulegrid::cli {

namespace {

struct Counters {
  OutputOptions output;
  CounterPathOptions paths;

  void run() const {
    output.check();
    const Stop& stop = stop_on_signals();
    const std::vector<FoundCounter> found = find_counters(paths.options());
    const CountersReport report = counters_report(found, steady_time(), {}, &stop);
    output.write(counters_document(report), [&](const TextStyle& style) { return counters_text(report, style); });
    if (!report.complete) throw Interrupted{};
  }
};

}  // namespace

void add_counters(CLI::App& app) {
  CLI::App* counters =
      app.add_subcommand("counters", "List the energy counters of this machine, and why the others are not there");
  const auto of = std::make_shared<Counters>();
  of->paths.add_to(*counters);
  of->output.add_to(*counters);
  example(*counters, "joulegrid counters");
  counters->callback([of] { of->run(); });
}

}  // namespace joulegrid::cli
