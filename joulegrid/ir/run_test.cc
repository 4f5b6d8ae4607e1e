#include "joulegrid/ir/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <limits>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/random_program.h"
#include "joulegrid/ir/slow_machine.h"

namespace joulegrid::ir {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// Runs the test's body with every instruction set that this machine has, not only its best.
class EveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  EveryTarget() {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~EveryTarget() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

INSTANTIATE_TEST_SUITE_P(Run, EveryTarget, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

template <typename Value>
void expect_what_the_slow_machine_says(const Program& program, const std::vector<Value>& inputs, unsigned threads) {
  const auto cells = sizeof(Value) == 1 ? SlowMachine::Cells::byte : SlowMachine::Cells::integer;
  SlowMachine slow(print(program));
  const RunResult<Value> result = run(program, std::span<const Value>(inputs), {threads, nullptr});
  ASSERT_EQ(result.instances, inputs.size() / program.input_count());
  std::size_t failure = 0;
  for (std::uint64_t i = 0; i < result.instances; ++i) {
    const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(i * program.input_count());
    const auto expected = slow.run({first, first + static_cast<std::ptrdiff_t>(program.input_count())}, cells);
    for (std::size_t o = 0; o < program.output_count(); ++o) {
      const auto value = expected ? static_cast<Value>(expected->at(o)) : Value{};
      ASSERT_EQ(result.outputs[i * program.output_count() + o], value) << "instance " << i << "\n" << print(program);
    }
    if (expected) continue;
    ASSERT_LT(failure, result.failures.size()) << "instance " << i << "\n" << print(program);
    ASSERT_EQ(result.failures[failure].instance, i) << print(program);
    ASSERT_EQ(result.failures[failure].instruction, slow.failed) << print(program);
    ++failure;
  }
  ASSERT_EQ(failure, result.failures.size()) << print(program);
}

TEST_P(EveryTarget, random_byte_programs_give_what_the_slow_machine_gives) {
  const std::uint64_t seed = 21;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 150; ++round) {
    const Program program = random_program(random, random() % 50);
    std::vector<std::int8_t> inputs((random() % 200) * program.input_count());
    for (auto& value : inputs) value = static_cast<std::int8_t>(random() % 3 == 0 ? random() % 5 - 2 : random());
    expect_what_the_slow_machine_says(program, inputs, static_cast<unsigned>(random() % 4 + 1));
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryTarget, random_integer_programs_give_what_the_slow_machine_gives) {
  const std::uint64_t seed = 22;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const Program program = random_program(random, random() % 30);
    std::vector<std::int64_t> inputs((random() % 40) * program.input_count());
    const int magnitude = static_cast<int>(random() % 64);
    for (auto& value : inputs) {
      value = static_cast<std::int64_t>(random()) >> magnitude;
      if (random() % 16 == 0) value = random() % 2 == 0 ? smallest : largest;
    }
    expect_what_the_slow_machine_says(program, inputs, static_cast<unsigned>(random() % 4 + 1));
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryTarget, every_operation_gives_every_pair_of_bytes_what_it_should) {
  const Program program = parse(
      "1,2\nadd 3,1,2\nsub 4,1,2\nmul 5,1,2\nand 6,1,2\nor 7,1,2\nxor 8,1,2\nnot 9,1\nabs 10,1\nselect 11,1,2,1\ncmp "
      "12,1,2,eq\n"
      "cmp 13,1,2,ne\ncmp 14,1,2,lt\ncmp 15,1,2,le\ncmp 16,1,2,gt\ncmp 17,1,2,ge\nset 18,255\ncopy 19,1\ndiv 20,1,2\n"
      "3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n",
      "p.ir");
  std::vector<std::int8_t> inputs;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      inputs.push_back(static_cast<std::int8_t>(a));
      inputs.push_back(static_cast<std::int8_t>(b));
    }
  }
  const auto result = run(program, std::span<const std::int8_t>(inputs), {2, nullptr});
  std::size_t i = 0;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b, ++i) {
      if (b == 0) continue;
      const int floor = static_cast<int>(std::floor(static_cast<double>(a) / b));
      const std::vector<int> exact = {
          a + b,  a - b, a * b, a & b, a | b, a ^ b, ~a, std::abs(a), a != 0 ? b : a, a == b, a != b, a<b, a <= b, a> b,
          a >= b, 255,   a,     floor};
      for (std::size_t o = 0; o < exact.size(); ++o) {
        ASSERT_EQ(result.outputs[i * exact.size() + o], static_cast<std::int8_t>(exact[o])) << a << " " << b << " " << o;
      }
    }
  }
  ASSERT_EQ(result.failures.size(), 256U);
  for (std::size_t f = 0; f < 256; ++f) EXPECT_EQ(result.failures[f], (Failure{f * 256 + 128, 17, Fault::zero_divisor}));
}

TEST_P(EveryTarget, every_operation_gives_extreme_integers_what_it_should) {
  const std::vector<std::int64_t> values = {
      smallest, smallest + 1, -4294967297, -4294967296, -2147483649, -2147483648, -3,          -2,     -1, 0, 1, 2,
      3,        2147483647,   2147483648,  3037000499,  3037000500,  4294967296,  largest - 1, largest};
  std::vector<std::int64_t> inputs;
  for (const std::int64_t a : values) {
    for (const std::int64_t b : values) inputs.insert(inputs.end(), {a, b});
  }
  for (std::size_t op = 0; op < op_count; ++op) {
    Program program;
    program.input(1);
    program.input(2);
    program.instruction(static_cast<Op>(op) == Op::set ? set_to(3, smallest) : instruct(static_cast<Op>(op), 3, 1, 2, 1));
    program.output(3);
    expect_what_the_slow_machine_says(program, inputs, 1);
    if (HasFatalFailure()) return;
  }
}

TEST(Run, a_fault_ends_only_its_own_instance_and_names_its_first_instruction) {
  const Program program = parse("1,2\nmul 3,1,1\ndiv 4,1,2\ndiv 5,4,2\nadd 4,4,1\n4,3\n", "p.ir");
  const std::vector<std::int64_t> inputs = {7, 2, 7, 0, largest, 2, -7, 2, largest, 0, 5, 5};
  const auto result = run(program, std::span<const std::int64_t>(inputs));
  EXPECT_EQ(result.outputs, (std::vector<std::int64_t>{10, 49, 0, 0, 0, 0, -11, 49, 0, 0, 6, 25}));
  EXPECT_EQ(result.failures,
            (std::vector<Failure>{{1, 1, Fault::zero_divisor}, {2, 0, Fault::overflow}, {4, 0, Fault::overflow}}));
}

TEST(Run, any_number_of_instances_threads_and_lanes_gives_the_same) {
  const Program program = parse("1,2\nmul 3,1,2\nadd 3,1\n3,1\n", "p.ir");
  for (const std::size_t instances : {0UL, 1UL, 2UL, 63UL, 64UL, 65UL, 511UL, 512UL, 513UL, 1000UL, 5000UL}) {
    for (unsigned threads : {0U, 1U, 2U, 3U, 16U}) {
      std::vector<std::int8_t> inputs;
      std::vector<std::int8_t> expected;
      for (std::size_t i = 0; i < instances; ++i) {
        const int a = static_cast<int>(i % 251) - 125;
        const int b = static_cast<int>(i % 241) - 120;
        inputs.insert(inputs.end(), {static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)});
        expected.insert(expected.end(), {static_cast<std::int8_t>(a * b + a), static_cast<std::int8_t>(a)});
      }
      const auto result = run(program, std::span<const std::int8_t>(inputs), {threads, nullptr});
      ASSERT_EQ(result.outputs, expected) << instances << " " << threads;
      ASSERT_EQ(result.instances, instances);
      ASSERT_TRUE(result.failures.empty());
    }
  }
}

TEST(Run, refuses_what_makes_no_sense) {
  const auto error_of = [](const Program& program, const std::vector<std::int8_t>& inputs) -> std::string {
    try {
      run(program, std::span<const std::int8_t>(inputs));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(Program(), {}), HasSubstr("no inputs"));
  EXPECT_THAT(error_of(parse("1,2\n1\n", "p.ir"), {1, 2, 3}),
              HasSubstr("3 input values are no whole number of instances of 2"));
  EXPECT_THAT(error_of(parse("1\nset 2,255\nset 3,256\n1\n", "p.ir"), {1}),
              HasSubstr("instruction 2: the literal 256 does not lie"));
  EXPECT_THAT(error_of(parse("1\nset 3,-129\n1\n", "p.ir"), {1}), HasSubstr("instruction 1: the literal -129"));
  EXPECT_EQ(error_of(parse("1\nset 3,-128\n1\n", "p.ir"), {1}), "no error");
}

TEST(Run, hands_over_the_first_instances_when_it_is_stopped) {
  Stop stop;
  stop.request();
  const Program program = parse("1\n1\n", "p.ir");
  const std::vector<std::int8_t> inputs(100000, 1);
  const auto result = run(program, std::span<const std::int8_t>(inputs), {2, &stop});
  EXPECT_EQ(result.instances, 0U);
  EXPECT_TRUE(result.outputs.empty());
}

}  // namespace
}  // namespace joulegrid::ir
