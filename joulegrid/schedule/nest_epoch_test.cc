#include "joulegrid/schedule/nest_epoch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/distance.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/literal_nest.h"
#include "joulegrid/schedule/nest_layout.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {
namespace {

/// A nest of up to some loops for a GEMM: random factors that cover each dimension, in random order, with random marks.
Nest random_nest(std::mt19937_64& random, const Gemm& gemm) {
  Nest nest;
  for (const Dimension dimension : all_dimensions) {
    for (std::uint64_t left = size_of(gemm, dimension); left > 1;) {
      std::uint64_t trips = random() % 3 + 2;
      if (random() % 3 > 0) {
        while (left % trips != 0) --trips;  // often a divisor
        if (trips == 1) trips = left;
      }
      nest.loops.push_back({dimension, trips});
      left = ceil_div(left, trips);
    }
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

struct RandomEpoch {
  Epoch epoch;
  EpochNests nests;
};

RandomEpoch random_epoch(std::mt19937_64& random) {
  std::vector<std::uint64_t> widths;
  for (std::uint64_t w = random() % 4 + 2; w > 0; --w) widths.push_back(random() % 6 + 1);
  const std::uint64_t examples = random() % 12 + 1;
  RandomEpoch r{Epoch(widths, examples, random() % examples + 1), {}};
  for (const CallGroup& group : r.epoch.call_groups()) {
    std::vector<Nest>& of_group = r.nests.emplace_back();
    for (std::size_t layer = 0; layer < r.epoch.layers(); ++layer) {
      of_group.push_back(random_nest(random, r.epoch.gemm(group.rows, layer)));
    }
  }
  return r;
}

using Cells = std::vector<Wide>;

struct Price {
  Wide steps = 0;
  Wide reads = 0;
};

/// The sharing rules of the joint price, taken word by word on the executed reads of every single cell.
Price price_cell_by_cell(const RandomEpoch& r) {
  const auto add_by_rank = [](Cells& shared, Cells cells) {
    std::sort(cells.begin(), cells.end(), std::greater<>());
    if (shared.size() < cells.size()) shared.resize(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) shared[i] += cells[i];
  };
  const auto add_by_cell = [](Cells& cells, const std::vector<std::uint64_t>& reads, Wide times) {
    if (cells.size() < reads.size()) cells.resize(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i) cells[i] += times * reads[i];
  };
  Cells scratch, odd, even, own;
  std::vector<Cells> weights(r.epoch.layers());
  for (std::size_t group = 0; group < r.nests.size(); ++group) {
    const auto [rows, calls] = r.epoch.call_groups()[group];
    std::vector<Cells> arrays(r.epoch.layers() + 1);  // array l is the input of layer l
    for (std::size_t layer = 0; layer < r.epoch.layers(); ++layer) {
      Cells of_pair;
      for (const auto& [name, reads] : test::LiteralNest(r.epoch.gemm(rows, layer), r.nests[group][layer]).run(7)) {
        if (name == "A") {
          add_by_cell(arrays[layer], reads, 1);
        } else if (name == "B") {
          add_by_cell(weights[layer], reads, calls);
        } else if (name == "C") {
          std::vector<std::uint64_t> merges = reads;
          if (layer + 1 < r.epoch.layers()) std::for_each(merges.begin(), merges.end(), [](auto& of_cell) { --of_cell; });
          add_by_cell(arrays[layer + 1], merges, 1);
        } else {
          for (const std::uint64_t of_cell : reads) of_pair.push_back(calls * of_cell);
        }
      }
      add_by_rank(scratch, of_pair);
    }
    for (std::size_t array = 0; array <= r.epoch.layers(); ++array) {
      if (array == 0 || array == r.epoch.layers()) {
        for (std::uint64_t call = 0; call < calls; ++call) own.insert(own.end(), arrays[array].begin(), arrays[array].end());
        continue;
      }
      Cells all_calls = arrays[array];
      for (Wide& of_cell : all_calls) of_cell *= calls;
      add_by_rank(array % 2 != 0 ? odd : even, all_calls);
    }
  }
  for (const Cells* part : {&scratch, &odd, &even}) own.insert(own.end(), part->begin(), part->end());
  for (const Cells& part : weights) own.insert(own.end(), part.begin(), part.end());
  std::sort(own.begin(), own.end(), std::greater<>());
  Price price;
  for (std::size_t i = 0; i < own.size(); ++i) {
    price.steps += own[i] * distance(i + 1);
    price.reads += own[i];
  }
  return price;
}

/// Runs the epoch as one straight-line program at its addresses; expects the network's outputs and returns what reading costs.
Price execute(const RandomEpoch& r, std::mt19937_64& random) {
  const Epoch& epoch = r.epoch;
  const EpochNestLayout layout(epoch, r.nests);
  std::map<std::uint64_t, std::int64_t> memory;  // by address
  Price price;
  std::vector<std::vector<std::int64_t>> weights;
  const auto value = [&] { return static_cast<std::int64_t>(random() % 7) - 3; };
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    weights.emplace_back(epoch.widths()[layer] * epoch.widths()[layer + 1]);
    for (std::size_t i = 0; i < weights[layer].size(); ++i) {
      memory[layout.address(0, 0, layer, {NestCell::Array::b, 0, i})] = weights[layer][i] = value();
    }
  }
  struct Output {
    std::uint64_t address;
    std::int64_t value;
  };
  std::vector<Output> outputs;                                 // all of them are read after the last call
  std::vector<std::vector<std::vector<std::int64_t>>> images;  // in memory before the first call
  for (std::size_t group = 0; group < r.nests.size(); ++group) {
    images.emplace_back();
    for (std::uint64_t call = 0; call < epoch.call_groups()[group].calls; ++call) {
      std::vector<std::int64_t>& image = images[group].emplace_back(epoch.call_groups()[group].rows * epoch.widths()[0]);
      for (std::size_t i = 0; i < image.size(); ++i) {
        memory[layout.address(group, call, 0, {NestCell::Array::a, 0, i})] = image[i] = value();
      }
    }
  }
  for (std::size_t group = 0; group < r.nests.size(); ++group) {
    const auto [rows, calls] = epoch.call_groups()[group];
    for (std::uint64_t call = 0; call < calls; ++call) {
      std::vector<std::int64_t> activations = images[group][call];
      for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
        const Gemm gemm = epoch.gemm(rows, layer);
        const auto read = [&, call = call, group = group, layer = layer](const NestCell& cell) {
          const std::uint64_t at = layout.address(group, call, layer, cell);
          price.steps += distance(at);
          price.reads += 1;
          return memory.at(at);
        };
        NestProgram(gemm, r.nests[group][layer]).run([&](const NestInstruction& instruction) {
          std::int64_t result = read(instruction.left);
          if (instruction.operation == NestInstruction::Operation::add) result += read(instruction.right);
          if (instruction.operation == NestInstruction::Operation::mul) result *= read(instruction.right);
          memory[layout.address(group, call, layer, instruction.destination)] = result;
        });
        std::vector<std::int64_t> next(gemm.m * gemm.n, 0);
        for (std::uint64_t i = 0; i < gemm.m; ++i) {
          for (std::uint64_t j = 0; j < gemm.n; ++j) {
            for (std::uint64_t k = 0; k < gemm.k; ++k) {
              next[i * gemm.n + j] += activations[i * gemm.k + k] * weights[layer][k * gemm.n + j];
            }
          }
        }
        activations = next;
      }
      for (std::size_t i = 0; i < activations.size(); ++i) {
        outputs.push_back({layout.address(group, call, epoch.layers() - 1, {NestCell::Array::c, 0, i}), activations[i]});
      }
    }
  }
  for (const Output& output : outputs) {
    EXPECT_EQ(memory.at(output.address), output.value);
    price.steps += distance(output.address);
    price.reads += 1;
  }
  return price;
}

std::string text(const RandomEpoch& r) {
  std::string text = "widths";
  for (const std::uint64_t width : r.epoch.widths()) text += " " + std::to_string(width);
  text += ", examples " + std::to_string(r.epoch.examples()) + ", batch " + std::to_string(r.epoch.batch());
  for (const std::vector<Nest>& of_group : r.nests) {
    for (const Nest& nest : of_group) text += " | " + to_string(nest);
  }
  return text;
}

TEST(NestEpoch, random_networks_cost_what_their_cells_cost_one_by_one) {
  const std::uint64_t seed = 23;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 600; ++round) {
    const RandomEpoch r = random_epoch(random);
    SCOPED_TRACE(text(r));
    const Packing packing = pack(nest_overlays(r.epoch, r.nests));
    const Price price = price_cell_by_cell(r);
    ASSERT_EQ(packing.steps.count(), price.steps);
    ASSERT_EQ(packing.charged_reads.count(), price.reads);
    GridSteps of_layers;
    for (const GridSteps steps : packing.layer_steps) of_layers += steps;
    ASSERT_EQ(of_layers, packing.steps);
  }
}

TEST(NestEpoch, random_networks_run_as_one_program_at_their_price) {
  const std::uint64_t seed = 24;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const RandomEpoch r = random_epoch(random);
    SCOPED_TRACE(text(r));
    const Packing packing = pack(nest_overlays(r.epoch, r.nests));
    const Price price = execute(r, random);
    ASSERT_EQ(packing.steps.count(), price.steps);
    ASSERT_EQ(packing.charged_reads.count(), price.reads);
    if (HasFailure()) return;
  }
}

TEST(NestEpoch, sharing_by_rank_is_never_dearer_than_sa_cache_sharing_by_role) {
  const std::uint64_t seed = 27;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const RandomEpoch r = random_epoch(random);
    EpochTiles tiles;
    EpochNests nests;
    for (const CallGroup& group : r.epoch.call_groups()) {
      tiles.emplace_back();
      nests.emplace_back();
      for (std::size_t layer = 0; layer < r.epoch.layers(); ++layer) {
        const Gemm gemm = r.epoch.gemm(group.rows, layer);
        const Tile tile{random() % gemm.m + 1, random() % gemm.n + 1};
        tiles.back().push_back(tile);
        Nest nest;
        nest.loops = {{Dimension::m, ceil_div(gemm.m, tile.i)},
                      {Dimension::n, ceil_div(gemm.n, tile.j)},
                      {Dimension::k, gemm.k},
                      {Dimension::m, tile.i},
                      {Dimension::n, tile.j}};
        nest.marks = {{2, Operand::c}, {3, Operand::b}, {4, Operand::a}};
        nests.back().push_back(nest);
      }
    }
    ASSERT_LE(pack(nest_overlays(r.epoch, nests)).steps, pack(sa_cache_overlays(r.epoch, tiles).all()).steps) << text(r);
  }
}

TEST(NestEpoch, prices_the_published_example) {
  const Epoch epoch({6, 8, 4, 3}, 14, 4);
  for (const auto& [variant, steps, reads] : {std::tuple{"", 25237U, 5944U}, std::tuple{"through ", 24589U, 5734U}}) {
    EpochNests nests;
    for (const std::vector<std::string>& of_group :
         {std::vector<std::string>{"m2 n4 [C] k6 [B] m2 [A] n2", "n2 [AC] k8 [B] m4 n2", "k2 [C] n3 m4 [B] k2"},
          std::vector<std::string>{"n4 [C] k6 [B] m2 [A] n2", "n2 [AC] k8 [B] m2 n2", "k2 [C] n3 m2 [B] k2"}}) {
      nests.emplace_back();
      for (const std::string& nest : of_group) nests.back().push_back(parse_nest(variant + nest, "nest"));
    }
    const Packing packing = pack(nest_overlays(epoch, nests));
    EXPECT_EQ(packing.steps.count(), Wide{steps});
    EXPECT_EQ(packing.charged_reads.count(), Wide{reads});
  }
}

}  // namespace
}  // namespace joulegrid
