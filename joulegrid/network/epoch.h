#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/network/gemm.h"

namespace joulegrid {

/// So many calls of the network on so many rows each.
struct CallGroup {
  std::uint64_t rows = 1;
  std::uint64_t calls = 1;

  bool operator==(const CallGroup&) const = default;
};

/// An MLP inference epoch: every example goes once through all layers, in calls of `batch` rows and one call of what is
/// left over. Layer l multiplies rows × widths[l] by widths[l] × widths[l+1].
class Epoch {
 public:
  /// Throws Error(bad_input) for fewer than two widths, a zero anywhere, or a batch larger than the examples.
  Epoch(std::vector<std::uint64_t> widths, std::uint64_t examples, std::uint64_t batch);

  /// One GEMM as an epoch of one layer: A's rows are the examples, all in one call.
  static Epoch of(const Gemm& gemm) { return {{gemm.k, gemm.n}, gemm.m, gemm.m}; }

  const std::vector<std::uint64_t>& widths() const { return widths_; }
  std::uint64_t examples() const { return examples_; }
  std::uint64_t batch() const { return batch_; }
  std::size_t layers() const { return widths_.size() - 1; }

  /// The full calls, then the remainder call if there is one: at most two groups, of different row counts.
  const std::vector<CallGroup>& call_groups() const { return call_groups_; }

  /// All calls of the epoch.
  std::uint64_t calls() const;

  /// The GEMM that one call of `rows` rows does in layer `layer`.
  Gemm gemm(std::uint64_t rows, std::size_t layer) const { return {rows, widths_.at(layer), widths_.at(layer + 1)}; }

  /// Multiply-accumulates of one example, and of all.
  Wide macs_per_example() const;
  Wide macs() const { return checked_mul(macs_per_example(), examples_); }

  bool operator==(const Epoch&) const = default;

 private:
  std::vector<std::uint64_t> widths_;
  std::uint64_t examples_;
  std::uint64_t batch_;
  std::vector<CallGroup> call_groups_;
};

}  // namespace joulegrid
