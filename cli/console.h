#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "joulegrid/base/stop.h"
#include "joulegrid/report/text.h"

namespace joulegrid::cli {

/// What a command ends with when it was interrupted: main turns it into exit status 4.
struct Interrupted {};

/// Text to standard output, all of it or Error.
void print(std::string_view text);

/// Colours where standard output is a terminal that wants them.
TextStyle output_style();

/// From the first call on, SIGINT, SIGTERM and SIGHUP ask this Stop, the program's one, to end the work; a second one of any
/// ends the program at once. A signal that the program was started to ignore stays ignored.
Stop& stop_on_signals();

/// A line on standard error that replaces itself, a few times a second; silent where standard error is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  /// Takes the line away again.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace joulegrid::cli
