#include "joulegrid/ir/price.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/ir/program.h"
#include "joulegrid/ir/random_program.h"
#include "joulegrid/ir/slow_machine.h"

namespace joulegrid::ir {
namespace {

Price streamed_price(const std::string& text) {
  MemorySource source(text);
  Pricer pricer;
  read_program(source, "p.ir", pricer);
  return pricer.price();
}

Wide steps_of(const std::string& text) {
  const Price streamed = streamed_price(text);
  EXPECT_EQ(streamed, price(parse(text, "p.ir"))) << text;
  return streamed.steps.count();
}

TEST(Price, charges_every_source_and_every_output_and_no_destination) {
  EXPECT_EQ(steps_of("1\n1\n"), Wide{1});
  EXPECT_EQ(steps_of("2\n2,2,2\n"), Wide{6});  // repeated outputs are charged each time
  EXPECT_EQ(steps_of("4,9\nadd 100,4,9\n4\n"), Wide{2 + 3 + 2});
  EXPECT_EQ(steps_of("9,4\nadd 9,4\n4\n"), Wide{3 + 2 + 2});  // the short form reads its destination
  EXPECT_EQ(steps_of("4\ncopy 1,4\nnot 1,4\nabs 1,4\n1\n"), Wide{2 + 2 + 2 + 1});
  EXPECT_EQ(steps_of("4\nset 100,5\n4\n"), Wide{2});
  EXPECT_EQ(steps_of("4,9,16\nselect 1,4,9,16\ncmp 1,4,9,lt\n1\n"), Wide{2 + 3 + 4 + 2 + 3 + 1});
}

TEST(Price, changes_right_behind_a_perfect_square) {
  for (std::uint64_t r = 1; r <= 4294967295U; r = r < 600 ? r + 1 : r + r / 60) {
    const std::uint64_t square = r * r;
    const std::string at = std::to_string(square);
    const std::string behind = std::to_string(square + 1);
    ASSERT_EQ(streamed_price(at + "\n" + at + "\n").steps.count(), Wide{r}) << r;
    ASSERT_EQ(streamed_price(behind + "\n" + behind + "\n").steps.count(), Wide{r} + 1) << r;
  }
}

TEST(Price, reaches_the_last_address) {
  const Price last = streamed_price("18446744073709551615\n18446744073709551615,18446744073709551615\n");
  EXPECT_EQ(last.steps.count(), Wide{1} << 33);
  EXPECT_EQ(last.histogram, (std::vector<DistanceReads>{{std::uint64_t{1} << 32, 2}}));
}

TEST(Price, random_programs_cost_what_the_slow_machine_says) {
  const std::uint64_t seed = 3;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const Program program = random_program(random, random() % 60);
    const std::string text = print(program);
    const SlowMachine slow(text);
    const Price fast = streamed_price(text);
    ASSERT_EQ(fast.steps.count(), static_cast<Wide>(slow.steps)) << text;
    ASSERT_EQ(fast.charged_reads.count(), static_cast<Wide>(slow.reads)) << text;
    std::map<std::uint64_t, std::uint64_t> histogram;
    for (const DistanceReads& bin : fast.histogram) histogram[bin.distance] = bin.reads;
    ASSERT_EQ(histogram, slow.histogram) << text;
    ASSERT_EQ(histogram.size(), fast.histogram.size()) << text;
    for (std::size_t op = 0; op < op_count; ++op) {
      const auto expected = slow.mix.find(std::string(op_names[op]));
      ASSERT_EQ(fast.instructions[op], expected == slow.mix.end() ? 0 : expected->second) << text;
    }
    ASSERT_EQ(instruction_count(fast), program.instruction_count());
    ASSERT_EQ(price(program), fast) << text;
  }
}

TEST(Price, the_most_reads_of_the_last_cell_are_counted_exactly) {
  ReadHistogram reads;
  const std::uint64_t most = ~std::uint64_t{0};
  reads.charge(most, most);
  EXPECT_EQ(reads.price().steps.count(), static_cast<Wide>(most) << 32);
}

}  // namespace
}  // namespace joulegrid::ir
