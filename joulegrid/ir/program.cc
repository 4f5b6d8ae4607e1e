#include "joulegrid/ir/program.h"

#include "joulegrid/base/error.h"
#include "joulegrid/ir/text_writer.h"

namespace joulegrid::ir {

namespace {

[[noreturn]] void refuse(const std::string& message, const char* what, std::size_t index) {
  throw Error(ErrorCode::bad_input, message, std::string(what) + " " + std::to_string(index + 1));
}

}  // namespace

void Program::input(std::uint64_t address) {
  if (!steps_.empty() || !outputs_.empty()) refuse("inputs come before instructions and outputs", "input", input_count_);
  if (address == 0) refuse("addresses start at 1", "input", input_count_);
  if (cells_.insert(address) != input_count_) {
    refuse("the input address " + std::to_string(address) + " is listed twice", "input", input_count_);
  }
  ++input_count_;
}

void Program::instruction(const Instruction& instruction) {
  if (input_count_ == 0 || !outputs_.empty()) {
    refuse("instructions come after the inputs and before the outputs", "instruction", steps_.size());
  }
  if (instruction.dest == 0) refuse("addresses start at 1", "instruction", steps_.size());
  const bool fits_short_form = has_short_form(instruction.op) && instruction.sources[0] == instruction.dest;
  if (instruction.short_form && !fits_short_form) {
    refuse("'" + std::string(op_name(instruction.op)) + "' has no short form with these operands", "instruction",
           steps_.size());
  }
  Step step{instruction.op, Predicate::eq, instruction.short_form, 0, 0, 0, 0};
  switch (reads_of(instruction.op)) {
    case 3: step.c_or_high_literal = written_cell(instruction.sources[2]); [[fallthrough]];
    case 2: step.b_or_low_literal = written_cell(instruction.sources[1]); [[fallthrough]];
    case 1: step.a = written_cell(instruction.sources[0]); break;
    default:
      step.b_or_low_literal = static_cast<Cell>(static_cast<std::uint64_t>(instruction.literal));
      step.c_or_high_literal = static_cast<Cell>(static_cast<std::uint64_t>(instruction.literal) >> 32);
      break;
  }
  if (instruction.op == Op::cmp) step.predicate = instruction.predicate;
  step.dest = cells_.insert(instruction.dest);
  steps_.push_back(step);
}

void Program::output(std::uint64_t address) {
  const Cell cell = cells_.find(address);
  if (cell == CellIndex::none) {
    refuse("the output cell " + std::to_string(address) + " is never written", "output", outputs_.size());
  }
  outputs_.push_back(cell);
}

Cell Program::written_cell(std::uint64_t address) const {
  const Cell cell = cells_.find(address);
  if (cell == CellIndex::none) {
    refuse("cell " + std::to_string(address) + " is read before anything is written to it", "instruction", steps_.size());
  }
  return cell;
}

Instruction Program::instruction_at(std::size_t i) const {
  const Step& step = steps_.at(i);
  const auto at = [this](Cell cell) { return addresses()[cell]; };
  Instruction instruction{step.op, step.predicate, step.short_form, at(step.dest), {}, 0};
  const unsigned reads = reads_of(step.op);
  if (reads == 0) instruction.literal = step.literal();
  if (reads >= 1) instruction.sources[0] = at(step.a);
  if (reads >= 2) instruction.sources[1] = at(step.b());
  if (reads >= 3) instruction.sources[2] = at(step.c());
  return instruction;
}

void Program::send_to(ProgramSink& sink) const {
  for (std::size_t i = 0; i < input_count_; ++i) sink.input(input_address(i));
  for (std::size_t i = 0; i < steps_.size(); ++i) sink.instruction(instruction_at(i));
  for (const Cell cell : outputs_) sink.output(addresses()[cell]);
}

Program parse(std::string_view text, const std::string& name, const ReadOptions& options) {
  constexpr std::size_t short_line = 8;  // bytes of an instruction; hardly one is shorter
  MemorySource source(text);
  Program program;
  program.reserve(text.size() / short_line);
  read_program(source, name, program, options);
  return program;
}

std::string print(const Program& program) {
  MemorySink sink;
  TextWriter writer(sink);
  program.send_to(writer);
  writer.finish();
  return sink.text;
}

std::string print(const Instruction& instruction) {
  MemorySink sink;
  TextWriter writer(sink);
  writer.instruction(instruction);
  writer.finish();
  return sink.text.substr(1, sink.text.size() - 2);  // without the newlines around it
}

Price price(const Program& program) {
  require_complete(program);
  // Reads are counted cell by cell, and only then is a distance looked at.
  std::vector<std::uint64_t> reads(program.addresses().size());
  std::array<std::uint64_t, op_count> instructions{};
  for (const Program::Step& step : program.steps()) {
    ++instructions[static_cast<std::size_t>(step.op)];
    switch (reads_of(step.op)) {
      case 3: ++reads[step.c()]; [[fallthrough]];
      case 2: ++reads[step.b()]; [[fallthrough]];
      case 1: ++reads[step.a]; break;
      default: break;
    }
  }
  for (const Cell cell : program.outputs()) ++reads[cell];
  ReadHistogram histogram;
  for (std::size_t cell = 0; cell < reads.size(); ++cell) {
    if (reads[cell] != 0) histogram.charge(program.addresses()[cell], reads[cell]);
  }
  Price price = histogram.price();
  price.instructions = instructions;
  return price;
}

void require_complete(const Program& program) {
  if (program.input_count() == 0) throw Error(ErrorCode::bad_input, "the program has no inputs");
  if (program.output_count() == 0) throw Error(ErrorCode::bad_input, "the program has no outputs");
}

}  // namespace joulegrid::ir
