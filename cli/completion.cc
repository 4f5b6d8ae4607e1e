#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"

namespace joulegrid::cli {

namespace {

/// One line "path|words" per command: what may follow `joulegrid path`.
void collect(const CLI::App& command, const std::string& path, std::vector<std::string>& lines) {
  std::vector<std::string> words;
  for (const CLI::App* child : command.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(child->get_name());
    collect(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), lines);
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  lines.push_back(path + "|" + joined(words, " "));
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> lines;
  collect(app, "", lines);
  std::string cases;
  for (const std::string& line : lines) {
    const auto bar = line.find('|');
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", line.substr(0, bar), line.substr(bar + 1));
  }
  return fmt::format(R"(# joulegrid completion for bash: source <(joulegrid completion bash)
_joulegrid() {{
  local path="" words="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$path $word" in
{}    esac
  done
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  if [ ${{#COMPREPLY[@]}} -eq 0 ]; then COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}")); fi
}}
complete -F _joulegrid joulegrid
)",
                     [&] {
                       std::string known;
                       for (const std::string& line : lines) {
                         const std::string path = line.substr(0, line.find('|'));
                         if (path.empty()) continue;
                         const auto blank = path.rfind(' ');
                         const std::string parent = blank == std::string::npos ? "" : path.substr(0, blank);
                         const std::string name = blank == std::string::npos ? path : path.substr(blank + 1);
                         known += fmt::format("      \"{} {}\") path=\"{}\" ;;\n", parent, name, path);
                       }
                       return known;
                     }(),
                     cases);
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}))->type_name("");
  example(*completion, "source <(joulegrid completion bash)");
  completion->callback(
      [shell, &app] { print((*shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") + bash(app)); });
}

}  // namespace joulegrid::cli
