#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"

namespace {

/// The exit statuses, docs/cli.md.
enum Status { done = 0, failed = 1, bad_input = 2, unavailable = 3, interrupted = 4 };

Status status_of(joulegrid::ErrorCode code) {
  switch (code) {
    case joulegrid::ErrorCode::bad_input:
    case joulegrid::ErrorCode::overflow: return bad_input;
    case joulegrid::ErrorCode::unavailable: return unavailable;
    case joulegrid::ErrorCode::system: return failed;
  }
  return failed;
}

Status complain(Status status, const std::string& message) {
  std::fprintf(stderr, "joulegrid: %s\n", joulegrid::printable(message).c_str());
  return status;
}

/// An option that is given has a value; so an empty one never passes for an option that is not given.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_size() == 0) continue;  // a flag
    option->check([](const std::string& value) { return value.empty() ? std::string("the value is empty") : std::string(); });
  }
  for (CLI::App* child : command.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*child);
}

/// The innermost command that the words chose, for "see … --help".
std::string command_line_of(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  return path;
}

/// `measure command … -- PROGRAM ARGS`: takes the program's words off the end, which are none of this program's.
std::vector<std::string> take_program(int& argc, char** argv) {
  constexpr int first = 3;
  std::vector<std::string> words;
  if (argc < first || std::string_view(argv[1]) != "measure" || std::string_view(argv[2]) != "command") return words;
  for (int i = first; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    words.assign(argv + i + 1, argv + argc);
    argc = i;
  }
  return words;
}

int run(int argc, char** argv) {
  const std::vector<std::string> program = take_program(argc, argv);
  CLI::App app(
      "What the movement of data must cost, by a model, and what it does cost, by the energy counters of this machine.",
      "joulegrid");
  app.set_version_flag("--version", "joulegrid " JOULEGRID_VERSION);
  app.require_subcommand(1);
  joulegrid::cli::add_model(app);
  joulegrid::cli::add_search(app);
  joulegrid::cli::add_floor(app);
  joulegrid::cli::add_counters(app);
  joulegrid::cli::add_report(app);
  joulegrid::cli::add_ir(app);
  joulegrid::cli::add_measure(app, program);
  joulegrid::cli::add_completion(app);
  joulegrid::cli::example(app, "joulegrid report movement");
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(bad_input, std::string(error.what()) + "; see `" + command_line_of(app) + " --help`");
  }
  return done;
}

/// Standard streams that are closed would otherwise be the first files that the program opens.
void open_standard_streams() {
  int fd = 0;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd < STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    return run(argc, argv);
  } catch (const joulegrid::cli::Interrupted&) {
    return interrupted;
  } catch (const joulegrid::Error& error) {
    return complain(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "out of memory");
  } catch (const std::exception& error) {
    return complain(failed, error.what());
  }
}
