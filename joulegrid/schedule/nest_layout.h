#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "joulegrid/grid/packing.h"
#include "joulegrid/schedule/nest_epoch.h"
#include "joulegrid/schedule/nest_program.h"

namespace joulegrid {

/// Addresses of an array's cells, in cell order.
using AddressByCell = std::vector<std::uint64_t>;

/// Addresses of the arrays of a nest.
class NestAddresses {
 public:
  void put(const NestArray& array, AddressByCell addresses);

  /// Not for tmp.
  std::uint64_t of(const NestCell& cell) const { return levels_[static_cast<std::size_t>(cell.array)][cell.level][cell.cell]; }

 private:
  std::array<std::vector<AddressByCell>, 3> levels_;  // by operand and level
};

/// Where each cell of a nest's arrays lies, as its price has it: an executed program is charged exactly that price. Takes
/// memory for every cell. Cells that nobody reads all lie at one address past all others.
class NestLayout {
 public:
  NestLayout(const Gemm& gemm, const Nest& nest);

  const Packing& packing() const { return packing_; }
  std::uint64_t address(const NestCell& cell) const;

 private:
  Packing packing_;
  std::uint64_t tmp_ = 0;
  NestAddresses arrays_;
};

/// The same for an epoch, whose calls and layers run one after the other.
class EpochNestLayout {
 public:
  EpochNestLayout(const Epoch& epoch, const EpochNests& nests);

  const Packing& packing() const { return packing_; }

  /// A cell of the nest of one layer in one call of a group.
  std::uint64_t address(std::size_t group, std::uint64_t call, std::size_t layer, const NestCell& cell) const;

 private:
  struct Scratch {
    std::uint64_t tmp = 0;
    NestAddresses buffers;
  };
  Scratch place_scratch(const Nest& nest, const NestReads& reads) const;

  std::size_t layers_;
  Packing packing_;
  std::vector<std::vector<Scratch>> scratch_;        // by group and layer
  std::vector<std::vector<AddressByCell>> images_;   // by group and call
  std::vector<std::vector<AddressByCell>> outputs_;  // by group and call
  std::vector<std::vector<AddressByCell>> hidden_;   // by group and array; array l is the input of layer l
  std::vector<AddressByCell> weights_;               // by layer
};

}  // namespace joulegrid
