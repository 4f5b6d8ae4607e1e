#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/base/stop.h"

namespace joulegrid {

/// A program and its arguments, as an exec call takes them.
struct ProgramCall {
  std::vector<std::string> words;  ///< the program's name or path, then its arguments

  bool operator==(const ProgramCall&) const = default;
};

/// The words of a command line as a POSIX shell divides it: blanks separate; '…' keeps everything; "…" keeps everything but
/// a backslash before one of $ ` " \ and a line's end; elsewhere a backslash keeps the next character. Nothing is expanded
/// and no other character is special. Throws Error(bad_input, where) for a quote that is not closed, a backslash at the end and
/// a zero byte.
std::vector<std::string> split_words(std::string_view line, const std::string& where);

/// The line in the hands of a shell: /bin/sh -c line.
ProgramCall shell_call(const std::string& line);

/// Throws Error(bad_input, where) that says why the program cannot be run: no such file, not on PATH, a directory, not
/// executable. A file that is executable but no program is found out only by running it.
void require_runnable(const ProgramCall& call, const std::string& where);

struct RunOptions {
  std::optional<std::chrono::nanoseconds> timeout;  ///< from the start; a program that runs longer is killed
  const Stop* stop = nullptr;      ///< kills the program when it asks; looked at on every signal and every 50 ms
  std::size_t keep_output = 0;     ///< bytes of the end of standard output; 0: it goes to /dev/null
  std::size_t keep_errors = 4096;  ///< the same for standard error
};

/// How a program ran.
struct RunResult {
  enum class End {
    exited,       ///< by itself, with exit_status
    signalled,    ///< by a signal that run_program did not send
    timed_out,    ///< killed: the time was over
    interrupted,  ///< killed, or not even started: RunOptions::stop asked
    not_started,  ///< there is no such program, or the system refused to start it
  };

  End end = End::not_started;
  int exit_status = -1;               ///< 0 to 255 where the program exited, also when asked to by a timeout; else -1
  int signal = 0;                     ///< that ended the program; 0 where none did
  std::chrono::nanoseconds wall{};    ///< from just before the start until the program is seen to have ended
  std::chrono::nanoseconds user{};    ///< processor time in the program, and in those of its children that it waited for
  std::chrono::nanoseconds system{};  ///< the same in the kernel

  /// The largest resident set of the program or of a child that it waited for. Linux starts this count at the peak of the
  /// process that starts the program, this one: where that was not exceeded, the value is only an upper bound.
  std::uint64_t max_resident_bytes = 0;
  bool max_resident_is_bound = false;

  std::string output;              ///< the end of standard output, as long as RunOptions::keep_output lets it be
  std::string errors;              ///< the end of standard error
  std::uint64_t output_bytes = 0;  ///< how many bytes the program wrote in all; 0 where none are to be kept
  std::uint64_t error_bytes = 0;   ///< the same for standard error
  std::string reason;              ///< the end in words: "exited with status 3"

  bool succeeded() const { return end == End::exited && exit_status == 0; }
};

/// Runs a program to its end and says how that went; whatever the program does is a result, not an error.
///
/// The program is looked for on PATH and runs in a process group of its own, with default signal handling, nothing on standard
/// input and no descriptor of this library. With a timeout or a stop the group gets SIGTERM, and SIGKILL 200 ms later. What
/// a program leaves running behind it when it ends by itself is left alone and not waited for; its later output is not read.
///
/// Waiting costs no processor time: the end, output and signals wake it up (before Linux 5.3, which cannot tell of the end,
/// it looks at intervals of 1/64 of the time run, at least 0.2 and at most 10 ms). Several threads may run programs. Where
/// SIGCHLD is ignored, which would lose the exit status, it is set to its default and stays so.
///
/// Throws Error(system) where pipes or waiting fail; the program has been killed then.
RunResult run_program(const ProgramCall& call, const RunOptions& options = {});

}  // namespace joulegrid
