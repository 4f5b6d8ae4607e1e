#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace joulegrid::ir {

/// Which line each instruction of a text stood on. Costs memory only where a line does not follow its predecessor's.
class SourceLines {
 public:
  /// The next instruction stood on `line`, which is no smaller than the last one.
  void append(std::uint64_t line) {
    if (line != next_line_) jumps_.push_back({count_, line});
    ++count_;
    next_line_ = line + 1;
  }

  /// The line of the instruction number `instruction`, from 0, that was appended.
  std::uint64_t line_of(std::uint64_t instruction) const;

 private:
  struct Jump {
    std::uint64_t instruction;
    std::uint64_t line;
  };

  std::vector<Jump> jumps_;
  std::uint64_t count_ = 0;
  std::uint64_t next_line_ = 0;
};

}  // namespace joulegrid::ir
