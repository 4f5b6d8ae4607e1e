#pragma once

#include <cstdint>
#include <vector>

#include "joulegrid/base/quantity.h"
#include "joulegrid/network/problem.h"

namespace joulegrid {

/// The statement of docs/floor.md that a bound comes from.
enum class FloorTheorem {
  every_read,   ///< Proposition 1: the reads that no program goes without
  first_reads,  ///< Proposition 2: every input is read once from its home, every output once at exit
  product,      ///< Theorem 1: blocks of one matrix product
  chain,        ///< Theorem 2: blocks of a chain of layers
  copies,       ///< Theorem 3: what is loaded for several uses must be copied
};

/// The section's name in docs/floor.md: "Theorem 1: blocks of one matrix product".
const char* theorem_name(FloorTheorem theorem);

/// At each of the radii last_radius − radii + 1 .. last_radius of the grid: how many reads of every program lie further away.
struct FloorLevel {
  std::uint64_t last_radius = 0;
  std::uint64_t radii = 1;
  Reads slow_reads;  ///< reads at addresses above last_radius², at least
  FloorTheorem theorem = FloorTheorem::every_read;
};

/// Reads that two levels together must have beyond what each must have by itself.
struct JointReads {
  std::uint64_t radius = 0;  ///< together with radius 0; 0 where there are none
  Reads reads;
};

/// What every classical schedule of a problem costs at least, whatever its loops, buffers, batches and addresses: programs that
/// form each product once and join sums (docs/floor.md). A read at address a counts once at every radius r ≥ 0 with r² < a,
/// so steps = Σ radii · slow_reads over all levels, and the joint reads.
struct Floor {
  GridSteps steps;
  FloorTheorem theorem = FloorTheorem::product;  ///< the main one
  std::vector<FloorLevel> levels;                ///< by radius, from 0 on; only those with slow reads
  JointReads joint;                              ///< by Theorem 3
};

/// Pure integer arithmetic, and never smaller for a problem that is larger in some dimension. An epoch's floor does not depend
/// on its batch: it holds for any. Throws Error(overflow).
Floor floor_of(const Problem& problem);

}  // namespace joulegrid
