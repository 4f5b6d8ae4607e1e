#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/network/gemm.h"

namespace joulegrid {

/// A dimension of C[m×n] = A[m×k]·B[k×n].
enum class Dimension : std::uint8_t { m, n, k };

inline constexpr std::array<Dimension, 3> all_dimensions{Dimension::m, Dimension::n, Dimension::k};

/// A matrix of C[m×n] = A[m×k]·B[k×n].
enum class Operand : std::uint8_t { a, b, c };

inline constexpr std::array<Operand, 3> all_operands{Operand::a, Operand::b, Operand::c};

/// 'm', 'n' or 'k'.
char letter(Dimension dimension);

/// 'A', 'B' or 'C'.
char letter(Operand operand);

/// The dimensions of an operand's rows and columns, and the one that it does not have.
struct Axes {
  Dimension rows;
  Dimension columns;
  Dimension absent;
};
Axes axes_of(Operand operand);

/// The GEMM's size in that dimension.
std::uint64_t size_of(const Gemm& gemm, Dimension dimension);

/// A loop that cuts each block of a dimension into `trips` blocks.
struct Loop {
  Dimension dimension = Dimension::m;
  std::uint64_t trips = 1;

  bool operator==(const Loop&) const = default;
};

/// A buffer of an operand: it holds what the loops from `depth` on touch. Depth p is inside p loops.
struct Mark {
  std::size_t depth = 1;
  Operand operand = Operand::a;

  auto operator<=>(const Mark&) const = default;
};

/// A schedule of one matrix product as a loop nest with buffers at any depth; docs/loop-nests.md.
struct Nest {
  std::vector<Loop> loops;  ///< outermost first
  std::vector<Mark> marks;  ///< ascending by depth, then operand; depths from 1 to loops.size()
  bool through = false;     ///< values bypass the buffers that they would only pass
  bool reflected = false;   ///< every loop runs backwards on every other entry

  /// The depths of an operand's buffers, outermost first.
  std::vector<std::size_t> depths(Operand operand) const;

  bool operator==(const Nest&) const = default;
};

/// More loops than the prime factors of any three sizes, with room for loops of a single trip.
inline constexpr std::size_t max_loops = 256;

/// "through reflected m2 n4 [C] k16 [AB] n4"; parse_nest reads it back.
std::string to_string(const Nest& nest);

/// Reads the notation of docs/loop-nests.md. Throws Error(bad_input, where = "`source`, column N") for anything else: an
/// unknown letter, a mark before the first loop or twice at one depth, a trip count that is no size, more than max_loops loops,
/// the trips of a dimension multiplying to more than max_size.
Nest parse_nest(std::string_view text, const std::string& source);

/// The same for a nest of this GEMM; the trips of a dimension must multiply to its size or more.
Nest parse_nest(std::string_view text, const std::string& source, const Gemm& gemm);

}  // namespace joulegrid
