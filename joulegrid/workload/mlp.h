#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// What makes an INT8 network: docs/workloads.md.
struct MlpOptions {
  std::vector<std::uint64_t> widths{784, 2500, 2000, 1500, 1000, 500, 10};  ///< input first
  unsigned shift = 0;            ///< arithmetic right shift before saturation, 0 to 31
  unsigned weights_range = 128;  ///< weights are uniform in [-r, min(r, 127)], 1 <= r <= 128
  std::uint64_t seed = 0;        ///< of the weights, for SplitMix64

  friend bool operator==(const MlpOptions&, const MlpOptions&) = default;
};

/// One layer: `outputs` neurons of `inputs` weights each.
struct MlpLayer {
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  std::vector<std::int8_t> weights;  ///< w[k][n] at k · outputs + n
  std::vector<std::int32_t> biases;  ///< one for each output
};

/// The largest width: the sum of a neuron's products stays below 2^30 in magnitude, so only biases can overflow it.
inline constexpr std::uint64_t largest_mlp_width = 65'536;

/// A dense INT8 network. Every layer accumulates in INT32, adds an INT32 bias, and writes mlp_epilogue of the sum as INT8.
class Mlp {
 public:
  /// Weights from the generator: layer after layer, w[0][0], w[0][1], …; biases zero. Throws Error(bad_input) for fewer than
  /// two widths, a width of zero or above largest_mlp_width, a shift above 31, a range outside 1 to 128.
  explicit Mlp(MlpOptions options);

  /// Throws Error(overflow) where inputs exist for which the sum of a neuron's products and its bias leaves 32 bits: no
  /// backend ever wraps or saturates there, so the order of additions does not matter.
  void set_biases(std::size_t layer, std::vector<std::int32_t> biases);
  /// The same for other weights, w[k][n] at k · outputs + n.
  void set_weights(std::size_t layer, std::vector<std::int8_t> weights);

  const MlpOptions& options() const { return options_; }
  const std::vector<MlpLayer>& layers() const { return layers_; }
  std::uint64_t inputs() const { return options_.widths.front(); }
  std::uint64_t outputs() const { return options_.widths.back(); }

  /// The widths as multiples of 16.
  std::vector<std::uint64_t> padded_widths() const;

 private:
  void require_no_overflow(std::size_t layer) const;

  MlpOptions options_;
  std::vector<MlpLayer> layers_;
};

/// Sum of the products of neighbouring widths: multiply-accumulates of a row. Of padded widths: those that are done.
Wide mlp_macs_per_row(const std::vector<std::uint64_t>& widths);

/// What a layer wrote.
struct MlpLayerShares {
  std::uint64_t values = 0;
  std::uint64_t zeros = 0;
  std::uint64_t saturated = 0;  ///< 127s

  void add(std::span<const std::int8_t> row);
  friend bool operator==(const MlpLayerShares&, const MlpLayerShares&) = default;
};

/// The network as plain loops: each layer's outputs, rows × outputs, of rows × inputs. This defines what all backends give.
std::vector<std::vector<std::int8_t>> mlp_reference(const Mlp& network, std::span<const std::int8_t> rows);

/// Uniform in [-128, 127] from SplitMix64: rows × inputs.
std::vector<std::int8_t> synthetic_mlp_input(std::uint64_t rows, std::uint64_t inputs, std::uint64_t seed);

}  // namespace joulegrid
