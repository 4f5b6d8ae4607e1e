#pragma once

#include <cstdint>

#include "joulegrid/ir/instruction.h"

namespace joulegrid::ir {

/// Takes a program piece by piece: all inputs, then all instructions, then all outputs, each in the program's order. What
/// reads, builds or emits programs feeds one; what prices, prints or keeps them is one.
class ProgramSink {
 public:
  virtual ~ProgramSink() = default;

  virtual void input(std::uint64_t address) = 0;
  virtual void instruction(const Instruction& instruction) = 0;
  virtual void output(std::uint64_t address) = 0;
};

}  // namespace joulegrid::ir
