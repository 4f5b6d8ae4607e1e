#pragma once

#include <array>
#include <cstddef>

#include "joulegrid/base/file.h"
#include "joulegrid/ir/program_sink.h"

namespace joulegrid::ir {

/// Prints the program that passes by in its canonical form (docs/ir.md), through a buffer of fixed size. Nothing is complete
/// before finish().
class TextWriter final : public ProgramSink {
 public:
  explicit TextWriter(ByteSink& sink) : sink_(sink) {}

  void input(std::uint64_t address) override;
  void instruction(const Instruction& instruction) override;
  void output(std::uint64_t address) override;

  /// Ends the last line and hands over everything that is still buffered.
  void finish();

 private:
  enum class Part { start, inputs, instructions, outputs };

  void list(Part part, std::uint64_t address);
  void put(char c) { buffer_[used_++] = c; }
  void put(std::string_view text);
  template <typename Integer>
  void put_number(Integer value);
  void make_room();

  ByteSink& sink_;
  Part part_ = Part::start;
  std::size_t used_ = 0;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace joulegrid::ir
