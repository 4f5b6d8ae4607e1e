#include "joulegrid/schedule/nest_program.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/grid/distance.h"
#include "joulegrid/schedule/literal_nest.h"
#include "joulegrid/schedule/nest_layout.h"

namespace joulegrid {
namespace {

std::string array_of(const NestCell& cell) {
  if (cell.array == NestCell::Array::tmp) return "tmp";
  return NestArray{static_cast<Operand>(cell.array), cell.level}.name();
}

TEST(NestProgram, random_programs_read_what_the_words_say_and_compute_the_product_at_the_price) {
  const std::uint64_t seed = 22;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000; ++round) {
    const test::RandomNest r = test::random_nest(random, round % 2 == 0, 700);
    SCOPED_TRACE(to_string(r.nest) + " on " + std::to_string(r.gemm.m) + "," + std::to_string(r.gemm.k) + "," +
                 std::to_string(r.gemm.n));
    const NestLayout layout(r.gemm, r.nest);
    std::map<std::uint64_t, std::int64_t> memory;  // by address
    test::Reads reads;
    Wide steps = 0;
    const auto address = [&](Operand operand, std::uint64_t cell) {
      return layout.address({static_cast<NestCell::Array>(operand), 0, cell});
    };
    const auto read = [&](const NestCell& cell) {
      const std::uint64_t at = layout.address(cell);
      steps += distance(at);
      std::vector<std::uint64_t>& cells = reads[array_of(cell)];
      if (cells.size() <= cell.cell) cells.resize(cell.cell + 1);
      ++cells[cell.cell];
      return memory.at(at);
    };
    std::vector<std::int64_t> a(r.gemm.m * r.gemm.k), b(r.gemm.k * r.gemm.n);
    const auto value = [&] { return static_cast<std::int64_t>(random() % 201) - 100; };
    for (std::size_t i = 0; i < a.size(); ++i) memory[address(Operand::a, i)] = a[i] = value();
    for (std::size_t i = 0; i < b.size(); ++i) memory[address(Operand::b, i)] = b[i] = value();
    NestProgram(r.gemm, r.nest).run([&](const NestInstruction& instruction) {
      std::int64_t result = read(instruction.left);
      if (instruction.operation == NestInstruction::Operation::add) result += read(instruction.right);
      if (instruction.operation == NestInstruction::Operation::mul) result *= read(instruction.right);
      memory[layout.address(instruction.destination)] = result;
    });
    for (std::uint64_t i = 0; i < r.gemm.m; ++i) {
      for (std::uint64_t j = 0; j < r.gemm.n; ++j) {
        std::int64_t sum = 0;
        for (std::uint64_t k = 0; k < r.gemm.k; ++k) sum += a[i * r.gemm.k + k] * b[k * r.gemm.n + j];
        ASSERT_EQ(read({NestCell::Array::c, 0, i * r.gemm.n + j}), sum);
      }
    }
    ASSERT_EQ(test::trimmed(reads), test::trimmed(test::LiteralNest(r.gemm, r.nest).run(random())));
    ASSERT_EQ(steps, layout.packing().steps.count());
  }
}

TEST(NestProgram, runs_again_from_the_beginning) {
  const Gemm gemm{3, 5, 4};
  NestProgram program(gemm, parse_nest("through reflected k3 [C] m2 n2 [AB] k2 [C] m2 n2", "nest", gemm));
  std::vector<NestCell> first, second;
  program.run([&](const NestInstruction& i) { first.push_back(i.left); });
  program.run([&](const NestInstruction& i) { second.push_back(i.left); });
  EXPECT_EQ(first, second);
  EXPECT_GE(first.size(), 2 * 60U - 12);
}

}  // namespace
}  // namespace joulegrid
