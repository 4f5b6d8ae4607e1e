#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "joulegrid/network/gemm.h"
#include "joulegrid/schedule/nest.h"

namespace joulegrid {

/// How the loops over one dimension cut it into blocks. The tables are doubles, as they only steer a search.
struct Cuts {
  static constexpr std::size_t capacity = 48;  ///< loops of two trips for the largest size

  std::uint64_t size = 1;
  std::size_t loops = 0;
  std::array<std::uint64_t, capacity> trips{};  ///< outermost first; they multiply to `size` or more
  // By the number of loops around, 0 to `loops`:
  std::array<double, capacity + 1> blocks{};  ///< that begin within the dimension
  std::array<double, capacity + 1> whole{};   ///< the size of a whole block, at most `size`
  std::array<double, capacity + 1> mean{};    ///< size / blocks

  /// Works out the tables.
  void update();
};

/// In which order the loops come and where the marks stand.
struct LoopOrder {
  static constexpr std::size_t capacity = 3 * Cuts::capacity;

  std::size_t loops = 0;
  bool through = true;
  bool reflected = true;
  std::array<std::uint8_t, capacity> dimensions{};  ///< a Dimension each, outermost first
  std::array<std::uint8_t, capacity + 1> marks{};   ///< by depth, from 1: bit x is Operand x

  void insert(std::size_t at, Dimension dimension);  ///< a loop inside `at` others and the marks that stand there
  void erase(std::size_t at);                        ///< the marks right inside it join those right outside

  /// The loop that is the index-th over its dimension. There must be one.
  std::size_t find(Dimension dimension, std::size_t index) const;
};

/// A nest while a search changes it: nothing on the heap, quick to copy.
struct NestDraft {
  LoopOrder order;
  std::array<Cuts, 3> cuts;  ///< by Dimension

  Cuts& of(Dimension dimension) { return cuts[static_cast<std::size_t>(dimension)]; }
  const Cuts& of(Dimension dimension) const { return cuts[static_cast<std::size_t>(dimension)]; }

  /// Loops of the sizes' prime factors up to 7; what has none is halved, rounding up. All loops over m come first, then
  /// those over n. No marks.
  static NestDraft of_small_factors(const Gemm& gemm);

  /// Likewise, with two trips each.
  static NestDraft of_halves(const Gemm& gemm);

  /// The draft of a nest that covers the GEMM. Loops of one trip are left out.
  /// Throws Error(bad_input) where more than Cuts::capacity loops over one dimension remain.
  static NestDraft of(const Gemm& gemm, const Nest& nest);

  Nest nest() const;

  /// Leaves out loops over the dimension, outermost first, that the others cover already, and sets the outermost of the rest to
  /// the fewest trips that cover the dimension.
  void fit(Dimension dimension);
};

}  // namespace joulegrid
