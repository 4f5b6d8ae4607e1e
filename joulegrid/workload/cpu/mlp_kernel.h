#pragma once

#include <cstddef>
#include <cstdint>

namespace joulegrid {

/// A layer as the kernel takes it. Inputs are bytes from 0 to 127, or where `wide` is set to 255; the sums start with the
/// corrections for that.
struct PackedMlpLayer {
  std::size_t inputs = 0;                ///< padded to a multiple of 16
  std::size_t outputs = 0;               ///< padded to a multiple of 16
  const std::int8_t* weights = nullptr;  ///< in the order of mlp_packed_index, aligned to 64 bytes
  const std::int32_t* starts = nullptr;  ///< what each output's sum starts with, aligned to 64 bytes
  bool wide = false;
  bool vnni = false;  ///< with AVX-512 VNNI, only where mlp_has_vnni()
  int shift = 0;

  std::size_t blocks() const { return outputs / 16; }  ///< of 16 outputs
};

/// What the layer makes of `rows` rows, for the outputs of blocks [first, last): row m's are written to out + m · out_stride.
/// Sums of products, bias, ReLU, shift, saturation and INT8 write happen while a tile of sums is in registers; no value is
/// read or written twice.
void run_mlp_rows(const PackedMlpLayer& layer, const std::uint8_t* in, std::size_t in_stride, std::size_t rows,
                  std::size_t first, std::size_t last, std::uint8_t* out, std::size_t out_stride);

/// The instructions that Highway chose for this machine are AVX-512, and it has VNNI too.
bool mlp_has_vnni();

/// Rows of the kernel's tiles on this machine: row counts that are multiples of it have no partial tiles.
std::size_t mlp_tile_rows(bool vnni);

/// The instructions that run_mlp_rows uses on this machine: "AVX3 with VNNI", "AVX2", ….
const char* mlp_instruction_set(bool vnni);

}  // namespace joulegrid
