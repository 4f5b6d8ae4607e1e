#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/ir/address_hash.h"

namespace joulegrid::ir {

/// A set of addresses: a bitmap where they lie densely, a hash table beyond. It takes at most about 32 bytes per address in
/// it (and 8 KiB), however large the addresses are; one bit where they are consecutive.
class CellSet {
 public:
  bool contains(std::uint64_t address) const {
    if (address < limit_) return (bits_[address / 64] >> (address % 64) & 1) != 0;
    return beyond_.find(address) != nullptr;
  }

  /// False where the address was there already.
  bool insert(std::uint64_t address) {
    if (address >= limit_) return insert_beyond(address);
    std::uint64_t& word = bits_[address / 64];
    const std::uint64_t bit = std::uint64_t{1} << (address % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    size_ += is_new ? 1 : 0;
    return is_new;
  }

  std::size_t size() const { return size_; }

 private:
  struct Nothing {};
  static constexpr std::uint64_t first_limit = 1 << 16;
  static constexpr std::uint64_t bits_per_cell = 64;  // the bitmap may be so sparse

  bool insert_beyond(std::uint64_t address);

  std::uint64_t limit_ = first_limit;  // the bitmap has the addresses below it
  std::vector<std::uint64_t> bits_ = std::vector<std::uint64_t>(first_limit / 64);
  AddressHash<Nothing> beyond_;
  std::size_t size_ = 0;
};

}  // namespace joulegrid::ir
