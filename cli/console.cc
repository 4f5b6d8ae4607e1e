#include "cli/console.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "joulegrid/base/error.h"

namespace joulegrid::cli {

namespace {

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

constexpr std::array<int, 3> stopping_signals{SIGINT, SIGTERM, SIGHUP};

Stop asked_by_signal;

void on_signal(int /*signal*/) {
  asked_by_signal.request();
  for (const int signal : stopping_signals) std::signal(signal, SIG_DFL);
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::bad_input, std::string("cannot write: ") + std::strerror(errno), "standard output");
  }
}

TextStyle output_style() { return {is_terminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr}; }

Stop& stop_on_signals() {
  for (const int signal : stopping_signals) {
    struct sigaction current {};
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) std::signal(signal, on_signal);
  }
  return asked_by_signal;
}

ProgressLine::ProgressLine()
    : terminal_(is_terminal(STDERR_FILENO)), next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(300)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

void ProgressLine::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now < next_) return;
  std::fprintf(stderr, "\r%s\x1b[K", shortened(text, text_width - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
  next_ = now + std::chrono::milliseconds(100);
}

}  // namespace joulegrid::cli
