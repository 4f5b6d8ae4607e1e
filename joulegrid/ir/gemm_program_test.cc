#include "joulegrid/ir/gemm_program.h"

#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/program.h"
#include "joulegrid/ir/run.h"
#include "joulegrid/ir/slow_machine.h"
#include "joulegrid/ir/text_writer.h"
#include "joulegrid/schedule/literal_nest.h"

namespace joulegrid::ir {
namespace {

template <typename Schedule>
std::string emitted_text(const Gemm& gemm, const Schedule& schedule) {
  MemorySink text;
  TextWriter writer(text);
  emit_gemm(gemm, schedule, writer);
  writer.finish();
  return text.text;
}

/// C, row-major, from A and B as the program takes them.
template <typename Value>
std::vector<Value> product(const Gemm& gemm, const Value* inputs) {
  const Value* const a = inputs;
  const Value* const b = inputs + gemm.m * gemm.k;
  std::vector<Value> c;
  for (std::uint64_t i = 0; i < gemm.m; ++i) {
    for (std::uint64_t j = 0; j < gemm.n; ++j) {
      std::int64_t sum = 0;
      for (std::uint64_t k = 0; k < gemm.k; ++k) sum += std::int64_t{a[i * gemm.k + k]} * b[k * gemm.n + j];
      c.push_back(static_cast<Value>(sum));
    }
  }
  return c;
}

template <typename Value>
void expect_products(const Gemm& gemm, const Program& program, std::size_t instances, std::mt19937_64& random) {
  std::vector<Value> inputs(instances * program.input_count());
  for (Value& value : inputs) value = static_cast<Value>(static_cast<std::int64_t>(random()) >> 40);
  const RunResult<Value> result = run(program, std::span<const Value>(inputs), {2, nullptr});
  ASSERT_TRUE(result.failures.empty());
  std::vector<Value> expected;
  for (std::size_t i = 0; i < instances; ++i) {
    const std::vector<Value> c = product(gemm, inputs.data() + i * program.input_count());
    expected.insert(expected.end(), c.begin(), c.end());
  }
  ASSERT_EQ(result.outputs, expected);
}

/// The program costs what `packing` says, whichever way it is priced, and computes the product.
template <typename Schedule>
void expect_price_and_product(const Gemm& gemm, const Schedule& schedule, const Packing& packing, std::mt19937_64& random) {
  Pricer pricer;
  emit_gemm(gemm, schedule, pricer);
  ASSERT_EQ(pricer.price().steps, packing.steps);
  ASSERT_EQ(pricer.price().charged_reads, packing.charged_reads);
  const std::string text = emitted_text(gemm, schedule);
  const Program program = parse(text, "p.ir");
  ASSERT_EQ(price(program), pricer.price());
  ASSERT_EQ(print(program), text);
  const SlowMachine slow(text);
  ASSERT_EQ(static_cast<Wide>(slow.steps), packing.steps.count());
  ASSERT_EQ(static_cast<Wide>(slow.reads), packing.charged_reads.count());
  expect_products<std::int64_t>(gemm, program, random() % 20, random);
  expect_products<std::int8_t>(gemm, program, random() % 150, random);
}

TEST(GemmProgram, random_tiles_cost_their_closed_form_and_compute_the_product) {
  const std::uint64_t seed = 31;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    const auto size = [&] { return random() % (round % 8 == 0 ? 24 : 9) + 1; };
    const Gemm gemm{size(), size(), size()};
    const Tile tile{random() % gemm.m + 1, random() % gemm.n + 1};
    SCOPED_TRACE(::testing::Message() << gemm.m << "x" << gemm.k << "x" << gemm.n << " by " << tile.i << "," << tile.j);
    expect_price_and_product(gemm, tile, pack(sa_cache_overlays(gemm, tile).all()), random);
    if (HasFatalFailure()) return;
  }
}

TEST(GemmProgram, random_nests_cost_their_closed_form_and_compute_the_product) {
  const std::uint64_t seed = 32;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    const test::RandomNest r = test::random_nest(random, round % 2 == 0, 400);
    SCOPED_TRACE(::testing::Message() << r.gemm.m << "x" << r.gemm.k << "x" << r.gemm.n << " by " << to_string(r.nest));
    expect_price_and_product(r.gemm, r.nest, pack(overlays_of(r.gemm, EpochNests{{r.nest}})), random);
    if (HasFatalFailure()) return;
  }
}

TEST(GemmProgram, has_the_published_price) {
  Pricer pricer;
  emit_gemm({16, 16, 16}, Tile{8, 4}, pricer);
  EXPECT_EQ(pricer.price().steps.count(), Wide{73602});
}

TEST(GemmProgram, nests_have_their_published_prices) {
  const Gemm gemm{16, 16, 16};
  for (const auto& [text, steps] : {std::pair<const char*, unsigned>{"m2 n4 [C] k16 [B] m8 [A] n4", 73602},
                                    {"through m2 n4 [C] k16 [B] m8 [A] n4", 72306},
                                    {"n2 n2 k2 k2 k2 [C] m2 m2 m2 m2 [B] n2 n2 [A] k2 [C]", 71922}}) {
    Pricer pricer;
    emit_gemm(gemm, Schedule(EpochNests{{parse_nest(text, "nest", gemm)}}), pricer);
    EXPECT_EQ(pricer.price().steps.count(), Wide{steps}) << text;
  }
}

TEST(GemmProgram, every_address_is_used_by_one_cell_of_one_buffer) {
  // The distinct cells of the program are as many as the packing has, and they fill the first addresses.
  for (const auto& [gemm, tile] : {std::pair<Gemm, Tile>{{13, 7, 11}, {5, 4}}, {{6, 1, 9}, {4, 9}}, {{1, 1, 1}, {1, 1}}}) {
    const Packing packing = pack(sa_cache_overlays(gemm, tile).all());
    Program program;
    emit_gemm(gemm, tile, program);
    std::vector<std::uint64_t> addresses = program.addresses();
    std::sort(addresses.begin(), addresses.end());
    ASSERT_EQ(addresses.size(), static_cast<std::uint64_t>(packing.regions.back().last_address));
    for (std::size_t i = 0; i < addresses.size(); ++i) ASSERT_EQ(addresses[i], i + 1);
  }
}

TEST(GemmProgram, uses_no_tmp_where_there_is_nothing_to_add) {
  EXPECT_EQ(emitted_text({1, 1, 1}, Tile{1, 1}),
            "4,5\n"
            "copy 2,5\n"
            "copy 1,4\n"
            "mul 3,1,2\n"
            "copy 6,3\n"
            "6\n");
}

TEST(GemmProgram, refuses_tiles_that_do_not_fit_and_addresses_that_do_not_exist) {
  Pricer pricer;
  EXPECT_THROW(emit_gemm({4, 4, 4}, Tile{5, 1}, pricer), Error);
  EXPECT_THROW(emit_gemm({4, 4, 4}, Tile{1, 0}, pricer), Error);
  EXPECT_THROW(emit_gemm({std::uint64_t{1} << 40, 1, std::uint64_t{1} << 40}, Tile{1, 1}, pricer), Error);
}

}  // namespace
}  // namespace joulegrid::ir
