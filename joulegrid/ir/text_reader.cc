#include "joulegrid/ir/text_reader.h"

#include <array>
#include <utility>

#include "joulegrid/ir/cell_set.h"
#include "joulegrid/ir/text_cursor.h"

namespace joulegrid::ir {

namespace {

/// A word as TextCursor::word() reads it.
constexpr std::uint64_t word_of(std::string_view name) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < name.size(); ++i) word |= static_cast<std::uint64_t>(name[i]) << (8 * i);
  return word;
}

/// Finds an operation by its word in one step: a hash without collisions, chosen at compile time.
class OpTable {
 public:
  consteval OpTable() {
    while (!fill()) factor_ *= 0xD6E8FEB86659FD93U;
  }

  /// Null where no operation has that name.
  const Op* find(std::uint64_t word) const {
    const Entry& entry = entries_[slot_of(word)];
    return entry.word == word ? &entry.op : nullptr;
  }

 private:
  struct Entry {
    std::uint64_t word = ~std::uint64_t{0} - 1;
    Op op{};
  };

  constexpr std::size_t slot_of(std::uint64_t word) const { return word * factor_ >> 59; }

  constexpr bool fill() {
    entries_ = {};
    for (std::size_t i = 0; i < op_count; ++i) {
      Entry& entry = entries_[slot_of(word_of(op_names[i]))];
      if (entry.word != Entry{}.word) return false;
      entry = {word_of(op_names[i]), static_cast<Op>(i)};
    }
    return true;
  }

  std::uint64_t factor_ = 0x9E3779B97F4A7C15U;
  std::array<Entry, 32> entries_{};
};

constexpr OpTable op_table;

class Reader {
 public:
  Reader(ByteSource& source, const std::string& name, ProgramSink& sink, const ReadOptions& options)
      : text_(source, name), sink_(sink), options_(options) {}

  void read() {
    if (!next_line()) text_.fail("the program is empty; its first line lists the input addresses");
    std::uint64_t last_line = text_.line();
    read_inputs();
    std::uint64_t outputs_line = 0;
    while (next_line()) {
      if (outputs_line != 0) {
        text_.fail_at(outputs_line, "expected an instruction: only the first and the last line list addresses");
      }
      last_line = text_.line();
      const int byte = text_.peek();
      if (byte >= '0' && byte <= '9') {
        outputs_line = last_line;
        read_outputs();
      } else {
        read_instruction();
      }
    }
    if (outputs_line == 0) text_.fail_at(last_line, "the program ends without a last line that lists the output addresses");
  }

 private:
  /// Goes to the next line that has something in it; false where there is none.
  bool next_line() {
    for (;;) {
      const int byte = text_.peek();
      if (byte > ';') return true;  // a letter: the usual case
      text_.skip_blanks();
      if (!skip_line_end()) return text_.peek() != TextCursor::end;
    }
  }

  /// Steps over the end of a line and the carriage return before it; false where there is something else, or nothing.
  bool skip_line_end() {
    bool returned = false;
    while (text_.peek() == '\r') {
      returned = true;
      text_.skip();
      text_.skip_blanks();
    }
    switch (text_.peek()) {
      case '\n': text_.skip_newline(); return true;
      case ';': text_.skip(); return true;
      case TextCursor::end: return false;
      default: break;
    }
    if (returned) text_.fail_expecting("the end of the line after a carriage return");
    return false;
  }

  void finish_line() {
    if (text_.peek() == '\n') return text_.skip_newline();
    text_.skip_blanks();
    if (!skip_line_end() && text_.peek() != TextCursor::end) text_.fail_expecting("a comma or the end of the line");
  }

  std::uint64_t read_address() {
    const std::uint64_t address = text_.number("an address");
    if (address == 0) text_.fail("expected an address, found 0; addresses start at 1");
    return address;
  }

  void read_inputs() {
    do {
      const std::uint64_t address = read_address();
      if (!written_.insert(address)) text_.fail("the input address " + std::to_string(address) + " is listed twice");
      sink_.input(address);
    } while (text_.skip_comma());
    finish_line();
  }

  void read_outputs() {
    do {
      const std::uint64_t address = read_address();
      if (!written_.contains(address)) text_.fail("the output cell " + std::to_string(address) + " is never written");
      sink_.output(address);
    } while (text_.skip_comma());
    finish_line();
  }

  Op read_op() {
    const std::uint64_t word = text_.word();
    const Op* op = op_table.find(word);
    if (op == nullptr) fail_unknown(word);
    if (!TextCursor::is_blank(text_.peek())) text_.fail_expecting("a blank after the operation");
    text_.skip_blanks();
    if (instruction_set_of(*op) > options_.instructions) fail_outside_set(*op);
    return *op;
  }

  void read_instruction() {
    Instruction instruction;
    instruction.op = read_op();
    instruction.dest = read_address();
    switch (instruction.op) {
      case Op::set:
        require_comma(instruction.op, 1);
        instruction.literal = text_.integer("a literal");
        if (options_.byte_literals && !is_byte_literal(instruction.literal)) fail_literal(instruction.literal);
        break;
      case Op::cmp:
        for (unsigned i = 0; i < 2; ++i) {
          require_comma(instruction.op, 1 + i);
          instruction.sources[i] = read_address();
        }
        require_comma(instruction.op, 3);
        instruction.predicate = read_predicate();
        break;
      default: read_sources(instruction); break;
    }
    if (text_.skip_comma()) fail_count(instruction.op, too_many);
    for (unsigned i = 0; i < reads_of(instruction.op); ++i) {
      if (!written_.contains(instruction.sources[i])) fail_unwritten(instruction.sources[i]);
    }
    written_.insert(instruction.dest);
    if (options_.lines != nullptr) options_.lines->append(text_.line());
    sink_.instruction(instruction);
    finish_line();
  }

  void read_sources(Instruction& instruction) {
    const unsigned reads = reads_of(instruction.op);
    unsigned count = 0;
    while (count < reads && text_.skip_comma()) instruction.sources[count++] = read_address();
    if (count == reads) return;
    if (count != 1 || !has_short_form(instruction.op)) fail_count(instruction.op, count + 1);
    instruction.short_form = true;
    instruction.sources[1] = instruction.sources[0];
    instruction.sources[0] = instruction.dest;
  }

  Predicate read_predicate() {
    const std::uint64_t word = text_.word();
    for (std::size_t i = 0; i < predicate_count; ++i) {
      const auto predicate = static_cast<Predicate>(i);
      if (word == word_of(predicate_name(predicate))) return predicate;
    }
    if (word != 0) text_.fail("unknown predicate '" + spelled(word) + "'; it is one of eq, ne, lt, le, gt, ge");
    text_.fail_expecting("a predicate: one of eq, ne, lt, le, gt, ge");
  }

  void require_comma(Op op, unsigned count) {
    if (!text_.skip_comma()) fail_count(op, count);
  }

  // What can be wrong, away from the usual path.

  static constexpr unsigned too_many = ~0U;

  /// The operation has `found` operands, unless what is here shows that its line is wrong in another way.
  [[noreturn, gnu::cold]] void fail_count(Op op, unsigned found) {
    const int byte = text_.peek();
    const bool counted = found == too_many || byte == '\n' || byte == ';' || byte == '\r' || byte == TextCursor::end;
    if (!counted) text_.fail_expecting("a comma or the end of the line");
    text_.fail("wrong number of operands: the form is " + form_of(op) + ", found " +
               (found == too_many ? "more" : std::to_string(found)));
  }

  [[noreturn, gnu::cold]] void fail_unknown(std::uint64_t word) {
    if (word == 0) text_.fail_expecting("an instruction or the output addresses");
    text_.fail("unknown operation '" + spelled(word) + "'; the operations are " + all_names());
  }

  [[noreturn, gnu::cold]] void fail_outside_set(Op op) {
    text_.fail("the operation '" + std::string(op_name(op)) + "' is not in the instruction set " +
               std::string(instruction_set_name(options_.instructions)));
  }

  [[noreturn, gnu::cold]] void fail_literal(std::int64_t literal) {
    text_.fail("the literal " + std::to_string(literal) + " does not lie within -128..255, as byte cells take");
  }

  [[noreturn, gnu::cold]] void fail_unwritten(std::uint64_t address) {
    text_.fail("cell " + std::to_string(address) + " is read before anything is written to it");
  }

  static std::string spelled(std::uint64_t word) {
    if (word == ~std::uint64_t{0}) return "(more than eight letters)";
    std::string name;
    for (; word != 0; word >>= 8) name.push_back(static_cast<char>(word & 0xFF));
    return name;
  }

  static std::string all_names() {
    std::string names;
    for (const std::string_view name : op_names) names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
  }

  TextCursor text_;
  ProgramSink& sink_;
  const ReadOptions& options_;
  CellSet written_;
};

}  // namespace

void read_program(ByteSource& source, const std::string& name, ProgramSink& sink, const ReadOptions& options) {
  Reader(source, name, sink, options).read();
}

}  // namespace joulegrid::ir
