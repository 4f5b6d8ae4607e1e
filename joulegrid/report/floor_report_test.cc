#include "joulegrid/report/floor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "joulegrid/base/json.h"
#include "joulegrid/report/price_report.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

TEST(FloorReport, document_adds_up) {
  for (const Problem& problem :
       {Problem(Gemm{100, 200, 300}), Problem(Epoch({784, 300, 10}, 1000, 64)), Problem(Gemm{1, 1, 1})}) {
    const Json json = parse_json(floor_document(floor_report(problem, {})), "doc");
    Wide steps = json["joint"].is_null() ? 0 : json["joint"]["reads"].get<Wide>();
    for (const Json& level : json["levels"]) steps += level["radii"].get<Wide>() * level["slow_reads"].get<Wide>();
    EXPECT_EQ(json["steps"].get<Wide>(), steps);
    EXPECT_EQ(json["levels"][0]["radius"].get<Wide>(), Wide{0});
    EXPECT_EQ(json["joules"].get<double>(), rounded_quotient(steps, 1000000000000000));
  }
}

TEST(FloorReport, text_says_what_it_is_a_floor_of_and_fits_the_text_width) {
  for (const Problem& problem :
       {Problem(Gemm{100, 200, 300}), Problem(Epoch(std::vector<std::uint64_t>(40, 123456789), 123456789012, 1)),
        Problem(Gemm{1, 1, std::uint64_t{1} << 44}), Problem(Gemm{1, 1, 1})}) {
    const std::string text = floor_text(floor_report(problem, {}), {});
    EXPECT_THAT(text, HasSubstr("No classical schedule"));
    EXPECT_THAT(text, HasSubstr("Theorem"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), text_width) << line;
  }
}

/// Reads of a packed schedule beyond so many cells.
Wide reads_beyond(const Packing& packing, Wide cells) {
  Wide reads = 0;
  for (const PackedRegion& region : packing.regions) {
    const Wide before = region.first_address - 1;
    const Wide within = cells <= before ? 0 : std::min(cells - before, region.cells);
    reads += (region.cells - within) * region.reads_per_cell;
  }
  return reads;
}

void expect_below(const Problem& problem, const Schedule& schedule, const std::string& what) {
  const Packing packing = price_report(problem, schedule, {}).packing;
  const Floor floor = floor_of(problem);
  EXPECT_LE(floor.steps, packing.steps) << what;
  for (const FloorLevel& level : floor.levels) {
    const Wide beyond = reads_beyond(packing, static_cast<Wide>(level.last_radius) * level.last_radius);
    EXPECT_LE(level.slow_reads.count(), beyond) << what << ", radius " << level.last_radius;
    if (floor.joint.radius > 0 && level.last_radius == floor.joint.radius) {
      EXPECT_LE(floor.levels[0].slow_reads.count() + level.slow_reads.count() + floor.joint.reads.count(),
                packing.charged_reads.count() + beyond)
          << what << ", jointly";
    }
  }
}

TEST(FloorReport, floor_is_never_above_any_sa_cache_schedule_level_by_level) {
  const std::uint64_t seed = 37;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto size = [&](std::uint64_t most) { return random() % (std::uint64_t{1} << (random() % most + 1)) + 1; };
  for (int round = 0; round < 150; ++round) {
    const Gemm gemm{size(8), size(8), size(8)};
    expect_below(gemm, EpochTiles{{{random() % gemm.m + 1, random() % gemm.n + 1}}}, "GEMM, round " + std::to_string(round));

    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = random() % 4 + 2; w > 0; --w) widths.push_back(size(6));
    const std::uint64_t examples = size(7);
    const Epoch epoch(widths, examples, random() % examples + 1);
    EpochTiles tiles;
    for (const CallGroup& group : epoch.call_groups()) {
      std::vector<Tile>& of_group = tiles.emplace_back();
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer)
        of_group.push_back({random() % group.rows + 1, random() % widths[layer + 1] + 1});
    }
    expect_below(epoch, tiles, "epoch, round " + std::to_string(round));
  }
}

/// Random factors that cover each dimension, in random order, with random marks.
Nest random_nest(std::mt19937_64& random, const Gemm& gemm) {
  Nest nest;
  for (const Dimension dimension : all_dimensions) {
    for (std::uint64_t left = size_of(gemm, dimension); left > 1; left = ceil_div(left, nest.loops.back().trips))
      nest.loops.push_back({dimension, random() % 3 + 2});
  }
  if (nest.loops.empty()) nest.loops.push_back({Dimension::k, 1});
  std::shuffle(nest.loops.begin(), nest.loops.end(), random);
  for (std::size_t depth = 1; depth <= nest.loops.size(); ++depth) {
    for (const Operand operand : all_operands) {
      if (random() % 3 == 0) nest.marks.push_back({depth, operand});
    }
  }
  nest.through = random() % 2 == 0;
  nest.reflected = random() % 2 == 0;
  return nest;
}

TEST(FloorReport, floor_is_never_above_any_nest_level_by_level) {
  const std::uint64_t seed = 38;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    const Gemm gemm{random() % 20 + 1, random() % 20 + 1, random() % 20 + 1};
    expect_below(gemm, EpochNests{{random_nest(random, gemm)}}, "GEMM, round " + std::to_string(round));

    std::vector<std::uint64_t> widths;
    for (std::uint64_t w = random() % 4 + 2; w > 0; --w) widths.push_back(random() % 9 + 1);
    const std::uint64_t examples = random() % 20 + 1;
    const Epoch epoch(widths, examples, random() % examples + 1);
    EpochNests nests;
    for (const CallGroup& group : epoch.call_groups()) {
      std::vector<Nest>& of_group = nests.emplace_back();
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer)
        of_group.push_back(random_nest(random, epoch.gemm(group.rows, layer)));
    }
    expect_below(epoch, nests, "epoch, round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace joulegrid
