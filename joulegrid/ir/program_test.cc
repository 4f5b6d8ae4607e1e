#include "joulegrid/ir/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/random_program.h"

namespace joulegrid::ir {
namespace {

using ::testing::HasSubstr;

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(Program, random_programs_come_back_from_their_text_and_the_text_from_them) {
  const std::uint64_t seed = 5;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const Program program = random_program(random, random() % 60);
    const std::string text = print(program);
    const Program again = parse(text, "p.ir");
    ASSERT_EQ(again, program) << text;
    ASSERT_EQ(print(again), text);
  }
}

TEST(Program, keeps_the_short_form_and_the_long_one_apart) {
  const std::string text = "1,2\nadd 1,2\nadd 1,1,2\nset 3,-7\ncmp 3,1,2,ge\nselect 4,3,1,2\n4,4\n";
  EXPECT_EQ(print(parse(text, "p.ir")), text);
  EXPECT_NE(parse("1,2\nadd 1,2\n1\n", "p.ir"), parse("1,2\nadd 1,1,2\n1\n", "p.ir"));
}

TEST(Program, prints_the_canonical_form) {
  EXPECT_EQ(print(parse(" 01 , 2;set 3, -000;; xor 3,1\r\n3", "p.ir")), "1,2\nset 3,0\nxor 3,1\n3\n");
  EXPECT_EQ(print(compare(3, 1, 2, Predicate::ne)), "cmp 3,1,2,ne");
}

TEST(Program, prints_texts_longer_than_any_buffer) {
  Program program;
  for (std::uint64_t i = 0; i < 100'000; ++i) program.input(~i);
  for (std::uint64_t i = 0; i < 100'000; ++i) program.instruction(instruct(Op::select, ~i, ~i, ~i, ~i));
  for (std::uint64_t i = 0; i < 100'000; ++i) program.output(~i);
  EXPECT_EQ(parse(print(program), "p.ir"), program);
}

TEST(Program, refuses_to_become_invalid) {
  Program program;
  EXPECT_THAT(error_of([&] { program.instruction(set_to(1, 1)); }), HasSubstr("instruction 1: instructions come after"));
  EXPECT_THAT(error_of([&] { program.output(1); }), HasSubstr("output 1: the output cell 1 is never written"));
  EXPECT_THAT(error_of([&] { program.input(0); }), HasSubstr("input 1: addresses start at 1"));
  EXPECT_THAT(error_of([&] { price(program); }), HasSubstr("no inputs"));
  program.input(1);
  EXPECT_THAT(error_of([&] { program.input(1); }), HasSubstr("input 2: the input address 1 is listed twice"));
  program.instruction(instruct(Op::copy, 2, 1));
  EXPECT_THAT(error_of([&] { program.input(7); }), HasSubstr("input 2: inputs come before"));
  EXPECT_THAT(error_of([&] { program.instruction(instruct(Op::add, 3, 1, 9)); }),
              HasSubstr("instruction 2: cell 9 is read before"));
  EXPECT_THAT(error_of([&] { program.instruction(instruct(Op::copy, 0, 1)); }), HasSubstr("addresses start at 1"));
  EXPECT_THAT(error_of([&] { program.instruction(accumulate(Op::copy, 2, 1)); }), HasSubstr("'copy' has no short form"));
  EXPECT_THAT(error_of([&] { price(program); }), HasSubstr("no outputs"));
  program.output(2);
  EXPECT_THAT(error_of([&] { program.instruction(instruct(Op::copy, 2, 1)); }), HasSubstr("before the outputs"));
  EXPECT_EQ(print(program), "1\ncopy 2,1\n2\n");
}

}  // namespace
}  // namespace joulegrid::ir
