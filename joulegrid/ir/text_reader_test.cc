#include "joulegrid/ir/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/program.h"

namespace joulegrid::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const std::string& text, InstructionSet set = InstructionSet::v3) {
  try {
    parse(text, "p.ir", {.instructions = set});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

/// Gives its text in pieces of one byte up to `most`.
class Dribble final : public ByteSource {
 public:
  Dribble(std::string_view text, std::size_t most, std::uint64_t seed) : whole_(text), most_(most), random_(seed) {}
  std::size_t read(char* into, std::size_t most) override { return whole_.read(into, std::min(most, random_() % most_ + 1)); }

 private:
  MemorySource whole_;
  std::size_t most_;
  std::mt19937_64 random_;
};

const Program two_inputs = parse("1,2\nadd 3,1,2\nmul 3,1\n3\n", "p.ir");

TEST(TextReader, blanks_empty_lines_semicolons_and_carriage_returns_change_nothing) {
  for (const std::string text : {
           "1,2\nadd 3,1,2\nmul 3,1\n3",            // no final newline
           "1,2;add 3,1,2;mul 3,1;3",               // one line
           "1,2;add 3,1,2\nmul 3,1;3;\n",           // mixed
           "1,2\r\nadd 3,1,2\r\nmul 3,1\r\n3\r\n",  // CRLF
           "1,2\r\nadd 3,1,2\r\nmul 3,1\r\n3\r",    // a final CR alone
           "\n\n 1 , 2 \n\n;;\n\t add \t 3 ,1\t,  2 \n \r\n mul  3, 1\n\n\n  3  \n\n \t\n",
           "01,0000000000000000000000000000002\nadd 003,1,2\nmul 3,1\n3\n",
           "\v1,2\f\nadd\t3,1,2 ;; mul 3,1 \r;\r\n3",
       }) {
    EXPECT_EQ(parse(text, "p.ir"), two_inputs) << text;
  }
}

TEST(TextReader, any_division_into_pieces_reads_the_same) {
  const std::string text =
      "18446744073709551615,7\r\nadd 123456789,7,18446744073709551615\nselect 99999999,123456789,7,7\n cmp 5,7,7,ge ;set "
      "9,-128\n"
      "abs 12345678,9\n\n123456789,12345678,5\n";
  const Program whole = parse(text, "p.ir");
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    Dribble source(text, seed % 12 + 1, seed);
    Program program;
    read_program(source, "p.ir", program);
    ASSERT_EQ(program, whole) << "seed " << seed;
  }
}

TEST(TextReader, reads_every_form) {
  const Program program = parse(
      "1\nset 2,-128\nadd 3,1,2\nadd 3,1\nsub 3,1\nmul 3,1\ncopy 4,3\nand 4,1\nor 4,1,3\nxor 4,1\nnot 5,4\ndiv 5,1,2\ndiv 5,1\n"
      "cmp 6,1,2,lt\nselect 7,6,1,2\nabs 7,7\nset 8,9223372036854775807\nset 8,-9223372036854775808\n7,7\n",
      "p.ir");
  EXPECT_EQ(program.instruction_count(), 17U);
  EXPECT_EQ(program.instruction_at(0), set_to(2, -128));
  EXPECT_EQ(program.instruction_at(2), accumulate(Op::add, 3, 1));
  EXPECT_EQ(program.instruction_at(7), instruct(Op::bit_or, 4, 1, 3));
  EXPECT_EQ(program.instruction_at(12), compare(6, 1, 2, Predicate::lt));
  EXPECT_EQ(program.instruction_at(13), instruct(Op::select, 7, 6, 1, 2));
  EXPECT_EQ(program.instruction_at(16), set_to(8, std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(program.output_count(), 2U);
}

TEST(TextReader, names_the_line_of_every_mistake) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", "p.ir:1: the program is empty"},
      {"\n \r\n;;\n\t", "p.ir:4: the program is empty"},
      {"1", "p.ir:1: the program ends without a last line"},
      {"1\n", "p.ir:1: the program ends without a last line"},
      {"1\n\nadd 2,1,1\n\n", "p.ir:3: the program ends without a last line"},
      {"add 2,1,1\n2\n", "p.ir:1: expected an address, found 'a'"},
      {"1,1\n1\n", "p.ir:1: the input address 1 is listed twice"},
      {"1,2,\n1\n", "p.ir:1: expected an address, found the end of the line"},
      {"1,,2\n1\n", "p.ir:1: expected an address, found ','"},
      {"1 2\n1\n", "p.ir:1: expected a comma or the end of the line, found '2'"},
      {"1\r2\n1\n", "p.ir:1: expected the end of the line after a carriage return, found '2'"},
      {"1\n\radd 2,1,1\n2\n", "p.ir:2: expected the end of the line after a carriage return, found 'a'"},
      {"0\n1\n", "p.ir:1: expected an address, found 0; addresses start at 1"},
      {"-1\n1\n", "p.ir:1: expected an address, found '-'"},
      {"+1\n1\n", "p.ir:1: expected an address, found '+'"},
      {"1.5\n1\n", "p.ir:1: expected a comma or the end of the line, found '.'"},
      {"18446744073709551616\n1\n", "p.ir:1: expected an address, found a number of 2^64 or more"},
      {"99999999999999999999999\n1\n", "p.ir:1: expected an address, found a number of 2^64 or more"},
      {"1\n\nadd 2,1,3\n2\n", "p.ir:3: cell 3 is read before anything is written to it"},
      {"1\nadd 2,1\n2\n", "p.ir:2: cell 2 is read before anything is written to it"},
      {"1\nselect 2,1,1,9\n2\n", "p.ir:2: cell 9 is read before"},
      {"1\ncopy 2,0\n2\n", "p.ir:2: expected an address, found 0"},
      {"1\ncopy -2,1\n2\n", "p.ir:2: expected an address, found '-'"},
      {"1\ncopy 2,18446744073709551616\n2\n", "p.ir:2: expected an address, found a number of 2^64 or more"},
      {"1\ncopy 2,1\n2\n1\n", "p.ir:3: expected an instruction: only the first and the last line list addresses"},
      {"1\n1\ncopy 2,1\n2\n", "p.ir:2: expected an instruction: only the first"},
      {"1\nmov 2,1\n2\n", "p.ir:2: unknown operation 'mov'"},
      {"1\nexponent 2,1\n2\n", "p.ir:2: unknown operation 'exponent'"},
      {"1\nexponentiate 2,1\n2\n", "p.ir:2: unknown operation '(more than eight letters)'"},
      {"1\nADD 2,1\n2\n", "p.ir:2: expected an instruction or the output addresses, found 'A'"},
      {"1\nadd2,1\n2\n", "p.ir:2: expected a blank after the operation, found '2'"},
      {"1\nadd\n2\n", "p.ir:2: expected a blank after the operation, found the end of the line"},
      {"1\nadd \n2\n", "p.ir:2: expected an address, found the end of the line"},
      {"1\nadd 2\n2\n", "p.ir:2: wrong number of operands: the form is add d,a,b or add d,b, found 1"},
      {"1\nadd 1,1,1,1\n1\n", "p.ir:2: wrong number of operands: the form is add d,a,b or add d,b, found more"},
      {"1\ncopy 2\n2\n", "p.ir:2: wrong number of operands: the form is copy d,a, found 1"},
      {"1\ncopy 2,1,1\n2\n", "p.ir:2: wrong number of operands: the form is copy d,a, found more"},
      {"1\nnot 1,1,1\n1\n", "p.ir:2: wrong number of operands: the form is not d,a"},
      {"1\nselect 2,1,1\n2\n", "p.ir:2: wrong number of operands: the form is select d,c,t,f, found 3"},
      {"1\nselect 2,1,1,1,1\n2\n", "p.ir:2: wrong number of operands: the form is select d,c,t,f, found more"},
      {"1\ncmp 2,1\n2\n", "p.ir:2: wrong number of operands: the form is cmp d,a,b,p, found 2"},
      {"1\ncmp 2,1,1\n2\n", "p.ir:2: wrong number of operands: the form is cmp d,a,b,p, found 3"},
      {"1\ncmp 2,1,1,lt,1\n2\n", "p.ir:2: wrong number of operands: the form is cmp d,a,b,p, found more"},
      {"1\ncmp 2,1,1,1\n2\n", "p.ir:2: expected a predicate: one of eq, ne, lt, le, gt, ge, found '1'"},
      {"1\ncmp 2,1,1,less\n2\n", "p.ir:2: unknown predicate 'less'"},
      {"1\nset 2\n2\n", "p.ir:2: wrong number of operands: the form is set d,K, found 1"},
      {"1\nset 2,1,1\n2\n", "p.ir:2: wrong number of operands: the form is set d,K, found more"},
      {"1\nset 2,--1\n2\n", "p.ir:2: expected a literal, found '-'"},
      {"1\nset 2,\n2\n", "p.ir:2: expected a literal, found the end of the line"},
      {"1\nset 2,9223372036854775808\n2\n", "p.ir:2: expected a literal, found one that does not fit 64 bits"},
      {"1\nset 2,-9223372036854775809\n2\n", "p.ir:2: expected a literal, found one that does not fit 64 bits"},
      {"1\ncopy 2;1\n2\n", "p.ir:2: wrong number of operands: the form is copy d,a, found 1"},
      {"1\ncopy 2 1\n2\n", "p.ir:2: expected a comma or the end of the line, found '1'"},
      {"1\ncopy 2,1 x\n2\n", "p.ir:2: expected a comma or the end of the line, found 'x'"},
      {"1\ncopy 2,1\n2,7\n", "p.ir:3: the output cell 7 is never written"},
      {"1\n# comment\n1\n", "p.ir:2: expected an instruction or the output addresses, found '#'"},
      {"1\ncopy 2,1;copy 3,4;5", "p.ir:2: cell 4 is read before"},
  };
  for (const auto& [text, error] : cases) EXPECT_THAT(error_of(text), StartsWith(error)) << text;
  EXPECT_THAT(error_of(std::string("1\n\0copy 2,1\n2\n", 14)),
              StartsWith("p.ir:2: expected an instruction or the output addresses, found the byte 0x00"));
  EXPECT_THAT(error_of(std::string("1\0\n1\n", 5)),
              StartsWith("p.ir:1: expected a comma or the end of the line, found the byte 0x00"));
  EXPECT_THAT(error_of("1\n\xff\xfe\n"), HasSubstr("0xff"));
}

TEST(TextReader, an_instruction_set_has_only_its_own_operations_and_those_of_smaller_sets) {
  const std::vector<std::pair<std::string, InstructionSet>> programs = {
      {"add 2,1,1", InstructionSet::v0}, {"sub 2,1,1", InstructionSet::v0},    {"mul 2,1,1", InstructionSet::v0},
      {"copy 2,1", InstructionSet::v0},  {"and 2,1,1", InstructionSet::v1},    {"or 2,1,1", InstructionSet::v1},
      {"xor 2,1,1", InstructionSet::v1}, {"not 2,1", InstructionSet::v1},      {"set 2,1", InstructionSet::v2},
      {"div 2,1,1", InstructionSet::v3}, {"cmp 2,1,1,eq", InstructionSet::v3}, {"select 2,1,1,1", InstructionSet::v3},
      {"abs 2,1", InstructionSet::v3},
  };
  ASSERT_EQ(programs.size(), op_count);
  for (const auto& [instruction, from] : programs) {
    for (const auto set : {InstructionSet::v0, InstructionSet::v1, InstructionSet::v2, InstructionSet::v3}) {
      const std::string error = error_of("1\n\n" + instruction + "\n2\n", set);
      if (set >= from) {
        EXPECT_EQ(error, "no error") << instruction;
      } else {
        EXPECT_THAT(error, StartsWith("p.ir:3: the operation '")) << instruction;
        EXPECT_THAT(error, HasSubstr("is not in the instruction set v")) << instruction;
      }
    }
  }
}

TEST(TextReader, literals_of_byte_cells_are_bytes_with_or_without_a_sign) {
  const ReadOptions bytes{.byte_literals = true};
  parse("1\nset 2,-128\nset 2,255\n2\n", "p.ir", bytes);
  for (const std::string literal : {"-129", "256", "-9223372036854775808"}) {
    try {
      parse("1\nset 2,0\nset 2," + literal + "\n2\n", "p.ir", bytes);
      ADD_FAILURE() << literal;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "p.ir:3: the literal " + literal + " does not lie within -128..255, as byte cells take");
    }
  }
}

TEST(TextReader, endless_lines_numbers_and_lists_end_in_an_answer) {
  const std::string many(3'000'000, ' ');
  EXPECT_EQ(parse("1," + many + "2\nadd" + many + "3,1,2\nmul 3," + std::string(3'000'000, '0') + "1\n3", "p.ir"), two_inputs);
  EXPECT_THAT(error_of("1\n" + std::string(3'000'000, 'x')), StartsWith("p.ir:2: unknown operation"));
  EXPECT_THAT(error_of(std::string(3'000'000, '9')), StartsWith("p.ir:1: expected an address, found a number of 2^64"));
  EXPECT_THAT(error_of(std::string(3'000'000, '\n')), StartsWith("p.ir:3000001: the program is empty"));
  EXPECT_THAT(error_of(std::string(3'000'000, '\0')), StartsWith("p.ir:1: expected an address"));
  std::string operands = "1\nadd 1";
  for (int i = 0; i < 1'000'000; ++i) operands += ",1";
  EXPECT_THAT(error_of(operands), StartsWith("p.ir:2: wrong number of operands"));
  std::string outputs = "1\n1";
  for (int i = 0; i < 1'000'000; ++i) outputs += ",1";
  EXPECT_EQ(price(parse(outputs, "p.ir")).charged_reads.count(), Wide{1'000'001});
}

TEST(TextReader, a_text_cut_off_anywhere_is_a_program_or_an_error_and_nothing_else) {
  const std::string text = "1,22\nadd 3,1,22\nset 4,-5\ncmp 5,3,4,le\nselect 66,5,3,4\n66,3\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool one_output_at_least = length >= text.size() - 3;  // "66" is one
    EXPECT_EQ(error_of(text.substr(0, length)) == "no error", one_output_at_least && text[length - 1] != ',') << length;
  }
}

TEST(TextReader, notes_the_line_of_every_instruction) {
  SourceLines lines;
  parse("1\n\nadd 2,1,1\nadd 2,1;add 2,1\n\n\nadd 2,1\n2\n", "p.ir", {.lines = &lines});
  EXPECT_EQ(lines.line_of(0), 3U);
  EXPECT_EQ(lines.line_of(1), 4U);
  EXPECT_EQ(lines.line_of(2), 4U);
  EXPECT_EQ(lines.line_of(3), 7U);
}

}  // namespace
}  // namespace joulegrid::ir
