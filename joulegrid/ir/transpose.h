#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace joulegrid::ir {

/// Exchanges byte j of row i and byte i of row j, for all i, j: halves of the square, then quarters, then eighths.
inline void transpose_bytes(std::array<std::uint64_t, 8>& rows) {
  const auto exchange = [&rows](std::size_t distance, std::uint64_t low_bytes) {
    const std::size_t shift = 8 * distance;
    for (std::size_t i = 0; i < 8; ++i) {
      if ((i & distance) != 0) continue;
      const std::uint64_t differing = ((rows[i] >> shift) ^ rows[i + distance]) & low_bytes;
      rows[i] ^= differing << shift;
      rows[i + distance] ^= differing;
    }
  };
  exchange(4, 0x00000000FFFFFFFFU);
  exchange(2, 0x0000FFFF0000FFFFU);
  exchange(1, 0x00FF00FF00FF00FFU);
}

/// to(c)[r] = from(r)[c] for r < rows and c < columns, where from and to give the address of a row. Bytes go in squares of
/// eight by eight.
template <typename Value, typename From, typename To>
void transpose(const From& from, std::size_t rows, const To& to, std::size_t columns) {
  constexpr std::size_t side = 8;
  for (std::size_t r = 0; r < rows; r += side) {
    for (std::size_t c = 0; c < columns; c += side) {
      if constexpr (sizeof(Value) == 1 && std::endian::native == std::endian::little) {
        if (r + side <= rows && c + side <= columns) {
          std::array<std::uint64_t, side> square;
          for (std::size_t i = 0; i < side; ++i) std::memcpy(&square[i], from(r + i) + c, side);
          transpose_bytes(square);
          for (std::size_t i = 0; i < side; ++i) std::memcpy(to(c + i) + r, &square[i], side);
          continue;
        }
      }
      for (std::size_t i = r; i < rows && i < r + side; ++i) {
        for (std::size_t j = c; j < columns && j < c + side; ++j) to(j)[i] = from(i)[j];
      }
    }
  }
}

}  // namespace joulegrid::ir
