#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulegrid/base/wide.h"
#include "joulegrid/bound/floor.h"

namespace joulegrid::testing {

/// The reads of a program, cell by cell, with every cell at the address that suits it best: the most read one nearest.
class ReadCounts {
 public:
  void read(const std::string& array, std::uint64_t cell) { ++reads_[{array, cell}]; }

  /// Reads at addresses above `fast_cells`. No other placement of the cells has fewer, whatever the number.
  Wide slow_reads(std::uint64_t fast_cells) const;

  /// The price in grid steps.
  Wide steps() const;

 private:
  std::vector<Wide> falling() const;

  std::map<std::pair<std::string, std::uint64_t>, Wide> reads_;
};

/// A loop of a nest, or a mark: a buffer of one operand that holds what the loops inside touch.
struct NestItem {
  char letter = 'm';        ///< m, k or n; A, B or C for a mark
  std::uint64_t trips = 0;  ///< 0 for a mark
};

/// "m2 n4 [C] k16 [B] m8 [A] n4", from outside to inside.
std::vector<NestItem> parse_nest(std::string_view text);

/// The matrix product that the nest's loops span.
Gemm gemm_of(const std::vector<NestItem>& nest);

/// Runs the nest and counts. A and B buffers are filled from the next outer buffer of the same operand whenever their block
/// changes. A C buffer is begun anew with every block, and merged outward when the block changes: a sum's first arrival is a
/// copy, later ones are added. Products after a sum's first go through the cell "tmp".
ReadCounts walk_nest(const std::vector<NestItem>& nest);

/// A random nest of up to three loops per dimension and some marks.
std::vector<NestItem> random_nest(std::mt19937_64& random);

/// A random way to run an epoch: products in an order that favours deep or broad progress, each operand through a cache of
/// copies or not. Every element is summed up in its own cell.
ReadCounts walk_random_chain(const Epoch& epoch, std::mt19937_64& random);

/// Fails where the floor is above the counts: at a level, in the joint reads, or in the sum.
void expect_below(const Floor& floor, const ReadCounts& counts, const std::string& what);

}  // namespace joulegrid::testing
