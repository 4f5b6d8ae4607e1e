#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace joulegrid::ir {

/// A different number in every process, so that no file can be made to collide in a hash table.
std::uint64_t hash_seed();

/// A value per address (any number from 1 on), found by hashing: 16 to 32 bytes an entry for a small value.
template <typename Value>
class AddressHash {
 public:
  /// The value stored for the address, or null.
  const Value* find(std::uint64_t address) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(address)];
    return slot.address == address ? &slot.value : nullptr;
  }

  /// The value stored for the address; a new one, value-initialised, where there was none.
  Value& operator[](std::uint64_t address) {
    if (2 * (size_ + 1) > slots_.size()) rehash(slots_.empty() ? 16 : 2 * slots_.size());
    Slot& slot = slots_[slot_of(address)];
    if (slot.address == 0) {
      slot.address = address;
      ++size_;
    }
    return slot.value;
  }

  std::size_t size() const { return size_; }

  /// Calls use(address, value) for every entry, in no particular order.
  template <typename Use>
  void for_each(const Use& use) const {
    for (const Slot& slot : slots_) {
      if (slot.address != 0) use(slot.address, slot.value);
    }
  }

  /// Removes the entries below `limit`, after take(address, value) of each.
  template <typename Take>
  void take_below(std::uint64_t limit, const Take& take) {
    std::size_t kept = 0;
    for (Slot& slot : slots_) {
      if (slot.address == 0) continue;
      if (slot.address < limit) {
        take(slot.address, slot.value);
        slot = {};
      } else {
        ++kept;
      }
    }
    if (kept == size_) return;
    size_ = kept;
    rehash(slots_.size());  // probe sequences had gaps punched into them
  }

 private:
  struct Slot {
    std::uint64_t address = 0;
    [[no_unique_address]] Value value{};
  };

  /// The slot that holds the address, or the free one where it belongs.
  std::size_t slot_of(std::uint64_t address) const {
    std::uint64_t mixed = (address ^ seed_) * 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93U;
    std::size_t slot = mixed >> 32 & (slots_.size() - 1);
    while (slots_[slot].address != 0 && slots_[slot].address != address) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void rehash(std::size_t slots) {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
    for (Slot& slot : old) {
      if (slot.address != 0) slots_[slot_of(slot.address)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half full
  std::size_t size_ = 0;
  std::uint64_t seed_ = hash_seed();
};

}  // namespace joulegrid::ir
