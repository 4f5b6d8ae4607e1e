#include "joulegrid/ir/cell_set.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "joulegrid/ir/cell_index.h"

namespace joulegrid::ir {
namespace {

/// Addresses as programs have them: consecutive from somewhere, or scattered over all magnitudes.
std::vector<std::uint64_t> addresses(std::mt19937_64& random) {
  std::vector<std::uint64_t> list;
  for (int part = 0; part < 4; ++part) {
    const std::uint64_t start = (random() >> (random() % 64)) | 1;
    for (std::uint64_t i = random() % 20000; i > 0; --i)
      list.push_back(part % 2 == 0 ? start + i : (random() >> (random() % 64)) | 1);
  }
  return list;
}

TEST(CellSet, has_exactly_what_was_inserted_whatever_the_addresses) {
  const std::uint64_t seed = 11;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    CellSet cells;
    std::set<std::uint64_t> slow;
    for (const std::uint64_t address : addresses(random)) {
      ASSERT_EQ(cells.contains(address), slow.count(address) != 0) << address;
      ASSERT_EQ(cells.insert(address), slow.insert(address).second) << address;
      ASSERT_TRUE(cells.contains(address)) << address;
      ASSERT_EQ(cells.contains(address ^ 1), slow.count(address ^ 1) != 0) << address;
    }
    ASSERT_EQ(cells.size(), slow.size());
    for (const std::uint64_t address : slow) ASSERT_TRUE(cells.contains(address)) << address;
  }
}

TEST(CellSet, moves_to_the_bitmap_what_has_become_dense) {
  CellSet cells;
  for (std::uint64_t address = 70000; address < 90000; ++address) ASSERT_TRUE(cells.insert(address));
  for (std::uint64_t address = 70000; address < 90000; ++address) ASSERT_FALSE(cells.insert(address));
  EXPECT_FALSE(cells.contains(69999));
  EXPECT_FALSE(cells.contains(90000));
  EXPECT_EQ(cells.size(), 20000U);
}

TEST(CellIndex, numbers_addresses_in_the_order_of_their_first_appearance) {
  const std::uint64_t seed = 12;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    CellIndex cells;
    std::map<std::uint64_t, Cell> slow;
    for (const std::uint64_t address : addresses(random)) {
      const auto known = slow.find(address);
      ASSERT_EQ(cells.find(address), known == slow.end() ? CellIndex::none : known->second);
      const Cell number = slow.emplace(address, static_cast<Cell>(slow.size())).first->second;
      ASSERT_EQ(cells.insert(address), number);
    }
    ASSERT_EQ(cells.addresses().size(), slow.size());
    for (const auto& [address, number] : slow) ASSERT_EQ(cells.addresses()[number], address);
  }
}

}  // namespace
}  // namespace joulegrid::ir
