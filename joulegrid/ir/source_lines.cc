#include "joulegrid/ir/source_lines.h"

#include <algorithm>

#include "joulegrid/base/error.h"

namespace joulegrid::ir {

std::uint64_t SourceLines::line_of(std::uint64_t instruction) const {
  check(instruction < count_, "the instruction has a line");
  const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), instruction,
                                      [](std::uint64_t i, const Jump& jump) { return i < jump.instruction; });
  const Jump& jump = *(after - 1);
  return jump.line + (instruction - jump.instruction);
}

}  // namespace joulegrid::ir
