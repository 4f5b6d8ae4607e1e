#pragma once

#include <stdexcept>
#include <string>

namespace joulegrid {

/// What kind of failure an Error reports.
enum class ErrorCode {
  bad_input,    ///< the caller asked for something that makes no sense: an option, a file, a size
  overflow,     ///< an exact count does not fit its integer type
  unavailable,  ///< something this needs does not exist on this machine
  system,       ///< a system call failed for a reason other than its arguments
};

/// The one exception of the library: one line that says what is wrong, where, and what to do about it.
///
/// `where` names the option, file and line, or JSON pointer at fault, and may be empty. Only `main` catches it.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, const std::string& where = {})
      : std::runtime_error(where.empty() ? message : where + ": " + message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// An always-on check for bugs: throws std::logic_error naming the place when `holds` is false.
inline void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("internal error: ") + what);
}

}  // namespace joulegrid
