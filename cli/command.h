#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace joulegrid::cli {

/// Each adds one subcommand to the program; its callback does the work and throws joulegrid::Error where it cannot.
void add_model(CLI::App& app);
void add_search(CLI::App& app);
void add_floor(CLI::App& app);
void add_report(CLI::App& app);
void add_counters(CLI::App& app);
void add_ir(CLI::App& app);
/// `program`: the words after -- of `measure command`.
void add_measure(CLI::App& app, const std::vector<std::string>& program);
void add_completion(CLI::App& app);

}  // namespace joulegrid::cli
