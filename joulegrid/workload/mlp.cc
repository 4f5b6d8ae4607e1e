#include "joulegrid/workload/mlp.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/base/random.h"
#include "joulegrid/workload/mlp_epilogue.h"

namespace joulegrid {

namespace {

constexpr int least_value = -128;
constexpr int most_value = 127;

std::vector<std::int8_t> uniform_bytes(SplitMix64& random, std::uint64_t count, int least, int most) {
  std::vector<std::int8_t> bytes(count);
  const auto choices = static_cast<std::uint64_t>(most - least + 1);
  for (std::int8_t& byte : bytes) byte = static_cast<std::int8_t>(least + static_cast<int>(random.below(choices)));
  return bytes;
}

}  // namespace

Mlp::Mlp(MlpOptions options) : options_(std::move(options)) {
  constexpr unsigned most_shift = 31;
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::bad_input, message, "the network"); };
  if (options_.widths.size() < 2) fail("it has at least two widths");
  for (const std::uint64_t width : options_.widths) {
    if (width == 0 || width > largest_mlp_width) fail("widths are from 1 to " + std::to_string(largest_mlp_width));
  }
  if (options_.shift > most_shift) fail("a shift is from 0 to 31 bits");
  if (options_.weights_range == 0 || options_.weights_range > 128) fail("the range of weights is from 1 to 128");
  const int range = static_cast<int>(options_.weights_range);
  SplitMix64 random(options_.seed);
  for (std::size_t i = 0; i + 1 < options_.widths.size(); ++i) {
    const std::uint64_t inputs = options_.widths[i];
    const std::uint64_t outputs = options_.widths[i + 1];
    layers_.push_back({inputs, outputs, uniform_bytes(random, inputs * outputs, -range, std::min(range, most_value)),
                       std::vector<std::int32_t>(outputs, 0)});
  }
}

void Mlp::set_biases(std::size_t layer, std::vector<std::int32_t> biases) {
  check(biases.size() == layers_.at(layer).outputs, "every output has a bias");
  layers_[layer].biases.swap(biases);
  require_no_overflow(layer);
}

void Mlp::set_weights(std::size_t layer, std::vector<std::int8_t> weights) {
  check(weights.size() == layers_.at(layer).weights.size(), "a layer keeps its size");
  layers_[layer].weights.swap(weights);
  require_no_overflow(layer);
}

void Mlp::require_no_overflow(std::size_t layer) const {
  const MlpLayer& of = layers_[layer];
  const std::int64_t least_input = layer == 0 ? least_value : 0;
  std::vector<std::int64_t> least(of.outputs, 0);
  std::vector<std::int64_t> most(of.outputs, 0);
  for (std::uint64_t k = 0; k < of.inputs; ++k) {
    for (std::uint64_t n = 0; n < of.outputs; ++n) {
      const std::int64_t weight = of.weights[k * of.outputs + n];
      const std::int64_t a = weight * least_input;
      const std::int64_t b = weight * most_value;
      least[n] += std::min(a, b);
      most[n] += std::max(a, b);
    }
  }
  for (std::uint64_t n = 0; n < of.outputs; ++n) {
    if (least[n] + of.biases[n] < std::numeric_limits<std::int32_t>::min() ||
        most[n] + of.biases[n] > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorCode::overflow,
                  "the bias " + std::to_string(of.biases[n]) + " lets sums leave 32 bits, whose products reach from " +
                      std::to_string(least[n]) + " to " + std::to_string(most[n]),
                  "layer " + std::to_string(layer + 1) + ", output " + std::to_string(n));
    }
  }
}

std::vector<std::uint64_t> Mlp::padded_widths() const {
  std::vector<std::uint64_t> widths;
  for (const std::uint64_t width : options_.widths) widths.push_back(mlp_padded_width(width));
  return widths;
}

Wide mlp_macs_per_row(const std::vector<std::uint64_t>& widths) {
  Wide macs = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) macs += Wide{widths[i]} * widths[i + 1];
  return macs;
}

void MlpLayerShares::add(std::span<const std::int8_t> row) {
  values += row.size();
  zeros += static_cast<std::uint64_t>(std::count(row.begin(), row.end(), std::int8_t{0}));
  saturated += static_cast<std::uint64_t>(std::count(row.begin(), row.end(), std::int8_t{most_value}));
}

std::vector<std::vector<std::int8_t>> mlp_reference(const Mlp& network, std::span<const std::int8_t> rows) {
  check(rows.size() % network.inputs() == 0, "inputs are whole rows");
  const std::uint64_t count = rows.size() / network.inputs();
  const int shift = static_cast<int>(network.options().shift);
  std::vector<std::vector<std::int8_t>> results;
  std::span<const std::int8_t> values = rows;
  for (const MlpLayer& layer : network.layers()) {
    std::vector<std::int8_t> result(count * layer.outputs);
    for (std::uint64_t m = 0; m < count; ++m) {
      std::vector<std::int32_t> sums(layer.outputs, 0);
      for (std::uint64_t k = 0; k < layer.inputs; ++k) {
        const std::int32_t value = values[m * layer.inputs + k];
        for (std::uint64_t n = 0; n < layer.outputs; ++n) sums[n] += value * layer.weights[k * layer.outputs + n];
      }
      for (std::uint64_t n = 0; n < layer.outputs; ++n) {
        result[m * layer.outputs + n] = mlp_epilogue(sums[n] + layer.biases[n], shift);
      }
    }
    results.push_back(std::move(result));
    values = results.back();
  }
  return results;
}

std::vector<std::int8_t> synthetic_mlp_input(std::uint64_t rows, std::uint64_t inputs, std::uint64_t seed) {
  SplitMix64 random(seed);
  return uniform_bytes(random, rows * inputs, least_value, most_value);
}

}  // namespace joulegrid
