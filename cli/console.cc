#include "cli/console.h"

#include <unistd.h>

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

std::atomic<Stop*> stop_on_signal{nullptr};

void on_signal(int signal) {
  if (Stop* stop = stop_on_signal.load()) stop->request();
  std::signal(signal, SIG_DFL);
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorCode::bad_input, std::string("cannot write: ") + std::strerror(errno), "standard output");
  }
}

TextStyle output_style() { return {is_terminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr}; }

void stop_on_signals(Stop& stop) {
  stop_on_signal.store(&stop);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_signal);
}

ProgressLine::ProgressLine()
    : terminal_(is_terminal(STDERR_FILENO)), next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(300)) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
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
