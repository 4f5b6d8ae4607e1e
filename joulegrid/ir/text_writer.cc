#include "joulegrid/ir/text_writer.h"

#include <algorithm>
#include <charconv>

namespace joulegrid::ir {

namespace {

constexpr std::size_t longest_line = 100;  // of an instruction: four addresses of 20 digits

}  // namespace

void TextWriter::input(std::uint64_t address) { list(Part::inputs, address); }
void TextWriter::output(std::uint64_t address) { list(Part::outputs, address); }

void TextWriter::list(Part part, std::uint64_t address) {
  make_room();
  if (part_ == part) {
    put(',');
  } else if (part_ != Part::start) {
    put('\n');
  }
  part_ = part;
  put_number(address);
}

void TextWriter::instruction(const Instruction& instruction) {
  make_room();
  put('\n');
  part_ = Part::instructions;
  put(op_name(instruction.op));
  put(' ');
  put_number(instruction.dest);
  for (unsigned i = instruction.short_form ? 1 : 0; i < reads_of(instruction.op); ++i) {
    put(',');
    put_number(instruction.sources[i]);
  }
  if (instruction.op == Op::set) {
    put(',');
    put_number(instruction.literal);
  }
  if (instruction.op == Op::cmp) {
    put(',');
    put(predicate_name(instruction.predicate));
  }
}

void TextWriter::finish() {
  make_room();
  put('\n');
  sink_.write({buffer_.data(), used_});
  used_ = 0;
}

void TextWriter::put(std::string_view text) {
  std::copy(text.begin(), text.end(), buffer_.data() + used_);
  used_ += text.size();
}

template <typename Integer>
void TextWriter::put_number(Integer value) {
  char* const first = buffer_.data() + used_;
  used_ += static_cast<std::size_t>(std::to_chars(first, buffer_.data() + buffer_.size(), value).ptr - first);
}

void TextWriter::make_room() {
  if (used_ + longest_line <= buffer_.size()) return;
  sink_.write({buffer_.data(), used_});
  used_ = 0;
}

}  // namespace joulegrid::ir
