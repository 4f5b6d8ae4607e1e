#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "joulegrid/base/quantity.h"
#include "joulegrid/grid/distance.h"
#include "joulegrid/ir/address_hash.h"
#include "joulegrid/ir/program_sink.h"

namespace joulegrid::ir {

/// So many charged reads from so far away.
struct DistanceReads {
  std::uint64_t distance = 0;  ///< grid steps
  std::uint64_t reads = 0;

  bool operator==(const DistanceReads&) const = default;
};

/// What a program costs: every source read and every output's exit read is charged its cell's distance.
struct Price {
  GridSteps steps;
  Reads charged_reads;
  std::array<std::uint64_t, op_count> instructions{};  ///< how many, by Op
  std::vector<DistanceReads> histogram;                ///< by distance, ascending; no zeros

  bool operator==(const Price&) const = default;
};

/// How many instructions of all kinds.
std::uint64_t instruction_count(const Price& price);

/// The charged reads by distance. Memory grows with the distinct distances.
class ReadHistogram {
 public:
  /// `reads` more reads of the cell at `address` (1 and up).
  void charge(std::uint64_t address, std::uint64_t reads = 1) {
    const std::uint64_t d = distance_of(address);
    if (d >= near_.size()) return charge_far(d, reads);
    near_[d] += reads;
  }

  /// Steps, charged reads and histogram; the instructions are left at zero. Throws Error(overflow).
  Price price() const;

 private:
  static constexpr std::uint64_t near_distances = 1 << 16;  // of addresses up to 2^32

  /// d(a) = ceil(sqrt(a)) = floor(sqrt(a - 1)) + 1: one instruction where a double is exact (joulegrid/grid/distance.cc).
  static std::uint64_t distance_of(std::uint64_t address) {
    constexpr std::uint64_t exact_in_double = std::uint64_t{1} << 52;
    if (address > exact_in_double) return static_cast<std::uint64_t>(distance(address));
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(static_cast<std::int64_t>(address - 1)))) + 1;
  }
  void charge_far(std::uint64_t distance, std::uint64_t reads);

  std::vector<std::uint64_t> near_;  // reads by distance, as far as any was charged, below near_distances
  AddressHash<std::uint64_t> far_;   // reads by distance, from near_distances on
};

/// Prices the program that passes by; docs/ir.md. It believes that what passes is a valid program.
class Pricer final : public ProgramSink {
 public:
  void input(std::uint64_t /*address*/) override {}
  void instruction(const Instruction& instruction) override {
    ++instructions_[static_cast<std::size_t>(instruction.op)];
    const unsigned reads = reads_of(instruction.op);
    for (unsigned i = 0; i < reads; ++i) reads_.charge(instruction.sources[i]);
  }
  void output(std::uint64_t address) override { reads_.charge(address); }

  /// The price of what has passed. Throws Error(overflow).
  Price price() const;

 private:
  std::array<std::uint64_t, op_count> instructions_{};
  ReadHistogram reads_;
};

}  // namespace joulegrid::ir
