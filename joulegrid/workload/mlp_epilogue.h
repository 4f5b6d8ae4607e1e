#pragma once

// What every backend of the MLP shares, on processors and on devices: plain functions of plain integers, without the standard
// library's types, so that device code may include this.

namespace joulegrid {

/// Widths of physical layers are multiples of this.
inline constexpr unsigned long long mlp_width_unit = 16;

/// The width with its padding: 784 stays, 2500 becomes 2512, 10 becomes 16. Padding holds weights, biases and values of zero.
constexpr unsigned long long mlp_padded_width(unsigned long long width) {
  return (width + mlp_width_unit - 1) / mlp_width_unit * mlp_width_unit;
}

/// The calls of an epoch of so many examples, `batch` rows each and the last one what is left.
constexpr unsigned long long mlp_calls(unsigned long long examples, unsigned long long batch) {
  return examples / batch + (examples % batch != 0 ? 1 : 0);
}

/// The rows of that call, of `mlp_calls`.
constexpr unsigned long long mlp_call_rows(unsigned long long examples, unsigned long long batch, unsigned long long call) {
  const unsigned long long left = examples - call * batch;
  return left < batch ? left : batch;
}

/// The value that follows a neuron's sum of products and its bias: ReLU, arithmetic shift right by 0 to 31 bits, at most 127.
/// Shifting before ReLU would give the same: a negative number stays negative when shifted.
constexpr signed char mlp_epilogue(int sum, int shift) {
  constexpr int most = 127;
  const int positive = sum < 0 ? 0 : sum;
  const int shifted = positive >> shift;
  return static_cast<signed char>(shifted > most ? most : shifted);
}

/// Where weight w[k][n] of a layer of `padded_inputs` lies in packed order: blocks of 16 outputs, in them steps of four inputs,
/// in a step the four weights of each output side by side, as instructions that sum four products take them.
constexpr unsigned long long mlp_packed_index(unsigned long long k, unsigned long long n, unsigned long long padded_inputs) {
  constexpr unsigned long long step = 4;
  return n / mlp_width_unit * mlp_width_unit * padded_inputs + k / step * step * mlp_width_unit + n % mlp_width_unit * step +
         k % step;
}

/// Unsigned bytes are what such instructions take on one side. An input x of the first layer is stored as x + 128; the layer
/// then starts its sums from this instead of from the bias. It wraps, and the sum wraps back. Later layers' inputs are not
/// negative and stored as they are.
constexpr int mlp_offset_start(int bias, int weight_sum) {
  constexpr unsigned offset = 128;
  return static_cast<int>(static_cast<unsigned>(bias) - offset * static_cast<unsigned>(weight_sum));
}

}  // namespace joulegrid
