#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/ir/cell_index.h"
#include "joulegrid/ir/price.h"
#include "joulegrid/ir/program_sink.h"
#include "joulegrid/ir/text_reader.h"

namespace joulegrid::ir {

/// A straight-line program as a value. It is built by appending inputs, then instructions, then outputs, and only ever holds
/// what makes sense: inputs are distinct, and no cell is read before something was written to it. 20 bytes an instruction.
class Program final : public ProgramSink {
 public:
  /// An instruction with the cells numbered. What `op` does not use is 0.
  struct Step {
    Op op = Op::set;
    Predicate predicate = Predicate::eq;
    bool short_form = false;
    Cell dest = 0;
    Cell a = 0;
    Cell b_or_low_literal = 0;
    Cell c_or_high_literal = 0;

    Cell b() const { return b_or_low_literal; }
    Cell c() const { return c_or_high_literal; }
    std::int64_t literal() const {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(c_or_high_literal) << 32 | b_or_low_literal);
    }

    bool operator==(const Step&) const = default;
  };

  /// Each appends one piece; throws Error(bad_input, where = "instruction N" and the like) for an address of 0, a repeated
  /// input, a cell that nothing was written to, or a piece out of order.
  void input(std::uint64_t address) override;
  void instruction(const Instruction& instruction) override;
  void output(std::uint64_t address) override;

  /// Makes room for so many instructions.
  void reserve(std::size_t instructions) { steps_.reserve(instructions); }

  std::size_t input_count() const { return input_count_; }
  std::size_t instruction_count() const { return steps_.size(); }
  std::size_t output_count() const { return outputs_.size(); }

  std::uint64_t input_address(std::size_t i) const { return addresses().at(i); }
  Instruction instruction_at(std::size_t i) const;
  std::uint64_t output_address(std::size_t i) const { return addresses().at(outputs_.at(i)); }

  /// The addresses of the cells, by number; the inputs are the first ones.
  const std::vector<std::uint64_t>& addresses() const { return cells_.addresses(); }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Cell>& outputs() const { return outputs_; }

  /// Passes the program on, piece by piece.
  void send_to(ProgramSink& sink) const;

  bool operator==(const Program& other) const {
    return input_count_ == other.input_count_ && addresses() == other.addresses() && steps_ == other.steps_ &&
           outputs_ == other.outputs_;
  }

 private:
  Cell written_cell(std::uint64_t address) const;

  CellIndex cells_;
  std::size_t input_count_ = 0;
  std::vector<Step> steps_;
  std::vector<Cell> outputs_;
};

/// Reads a program's text; throws Error(bad_input, where = "name:line").
Program parse(std::string_view text, const std::string& name, const ReadOptions& options = {});

/// The program in its canonical form: parse(print(p)) == p.
std::string print(const Program& program);

/// One instruction as the canonical form has it: "add 3,1,2".
std::string print(const Instruction& instruction);

/// What the program costs; the same as a Pricer that it passes says. Throws Error(overflow).
Price price(const Program& program);

/// Throws Error(bad_input) where the program has no inputs or no outputs yet.
void require_complete(const Program& program);

}  // namespace joulegrid::ir
