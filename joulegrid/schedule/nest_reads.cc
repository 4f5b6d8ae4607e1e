#include "joulegrid/schedule/nest_reads.h"

#include "joulegrid/base/error.h"
#include "joulegrid/schedule/block_visits.h"

namespace joulegrid {

namespace {

/// The reads of one operand's arrays, level by level.
class OperandReads {
 public:
  OperandReads(const NestBlocks& blocks, Operand operand) : blocks_(blocks), operand_(operand) {
    depths_.push_back(0);
    for (const std::size_t depth : blocks.nest().depths(operand)) depths_.push_back(depth);
  }

  std::vector<CellReads> levels() const {
    std::vector<CellReads> levels;
    for (std::size_t level = 0; level < depths_.size(); ++level) {
      CellReads& reads = levels.emplace_back();
      for (const BlockShape& shape : block_shapes(blocks_, operand_, depths_[level])) {
        reads.push_back(level == innermost() ? read_by_products(shape) : read_by_next(level, shape));
      }
    }
    return levels;
  }

  /// The element arrivals at the innermost buffer that are the first of their visit; at bulk C, of all time.
  Wide first_arrivals() const {
    Wide arrivals = 0;
    for (const BlockShape& shape : block_shapes(blocks_, operand_, depths_.back())) {
      const Wide visits = innermost() == 0 ? shape.blocks : total_visits(blocks_, operand_, shape, depths_.back());
      arrivals = checked_add(arrivals, checked_mul(visits, checked_mul(shape.rows, shape.columns)));
    }
    return arrivals;
  }

 private:
  std::size_t innermost() const { return depths_.size() - 1; }
  bool through() const { return blocks_.nest().through; }

  /// A buffer (or the bulk array) is read once an element and visit of the next inner buffer; with `through`, values that only
  /// pass by are not.
  ReadPattern read_by_next(std::size_t level, const BlockShape& shape) const {
    ReadPattern reads = block_visits(blocks_, operand_, shape, depths_[level], depths_[level + 1]);
    if (through() && level > 0) {
      const Wide passing = total_visits(blocks_, operand_, shape, depths_[level]);
      reads.transform([&](Wide visits) { return checked_sub(visits, passing); });
    }
    return reads;
  }

  /// The innermost buffer is read once a product (C: by an addition or a merge, or the exit).
  ReadPattern read_by_products(const BlockShape& shape) const {
    Wide reads = checked_mul(shape.blocks, size_of(blocks_.gemm(), axes_of(operand_).absent));
    if (through() && innermost() > 0) {
      if (operand_ == Operand::c) {
        reads = checked_sub(reads, total_visits(blocks_, operand_, shape, depths_.back()));
      } else {
        for (std::size_t level = 1; level < innermost(); ++level) reads = checked_add(reads, copies_outward(level, shape));
      }
    }
    return ReadPattern::even(shape.rows, shape.columns, reads);
  }

  /// With `through`, an element that a visit of an outer buffer lacks is copied there from the innermost buffer: how often such
  /// copies read a cell of the innermost buffer in its blocks of this shape.
  Wide copies_outward(std::size_t level, const BlockShape& inner) const {
    Wide copies = 0;
    for (const BlockShape& outer : block_shapes(blocks_, operand_, depths_[level])) {
      const Axes axes = axes_of(operand_);
      const Wide inside = checked_mul(blocks_inside(axes.rows, level, outer.last_row, inner.last_row),
                                      blocks_inside(axes.columns, level, outer.last_column, inner.last_column));
      copies = checked_add(copies, checked_mul(inside, total_visits(blocks_, operand_, outer, depths_[level])));
    }
    return copies;
  }

  /// How many innermost blocks, the last one or others, lie along one block of a level.
  std::uint64_t blocks_inside(Dimension dimension, std::size_t level, bool outer_last, bool inner_last) const {
    const std::uint64_t in_whole = blocks_.extent(dimension, depths_[level]) / blocks_.extent(dimension, depths_.back());
    if (!outer_last) return inner_last ? 0 : in_whole;
    const std::uint64_t before = (blocks_.count(dimension, depths_[level]) - 1) * in_whole;
    return inner_last ? 1 : blocks_.count(dimension, depths_.back()) - before - 1;
  }

  const NestBlocks& blocks_;
  Operand operand_;
  std::vector<std::size_t> depths_;  // by level; the bulk array's is 0
};

Role role_of(const NestArray& array) {
  static constexpr std::array<Role, 3> bulk_roles{Role::input, Role::weight, Role::output};
  return array.level > 0 ? Role::scratch : bulk_roles[static_cast<std::size_t>(array.operand)];
}

}  // namespace

std::string NestArray::name() const {
  return std::string(1, letter(operand)) + (level == 0 ? "" : "@" + std::to_string(level));
}

std::vector<NestArray> nest_arrays(const Nest& nest) {
  std::vector<NestArray> arrays;
  for (const Operand operand : all_operands) {
    for (std::size_t level = 1; level <= nest.depths(operand).size(); ++level) arrays.push_back({operand, level});
  }
  for (const Operand operand : all_operands) arrays.push_back({operand, 0});
  return arrays;
}

NestReads nest_reads(const Gemm& gemm, const Nest& nest) {
  const NestBlocks blocks(gemm, nest);
  NestReads reads;
  for (const Operand operand : all_operands) {
    reads.levels[static_cast<std::size_t>(operand)] = OperandReads(blocks, operand).levels();
  }
  const Wide not_added = nest.through ? checked_mul(gemm.m, gemm.n) : OperandReads(blocks, Operand::c).first_arrivals();
  reads.tmp = checked_sub(gemm.macs(), not_added);
  return reads;
}

std::vector<Buffer> stacked(const std::vector<Run>& runs, Wide calls, std::size_t layer) {
  std::vector<Buffer> buffers;
  Wide first = 1;
  for (const Run& run : runs) {
    buffers.push_back({run.cells, checked_mul(calls, run.reads_per_cell), layer, first});
    first = checked_add(first, run.cells);
  }
  return buffers;
}

std::vector<Overlay> nest_overlays(const Gemm& gemm, const Nest& nest) {
  const NestReads reads = nest_reads(gemm, nest);
  std::vector<Overlay> overlays{{"tmp", Role::scratch, stacked({{1, reads.tmp}})}};
  for (const NestArray& array : nest_arrays(nest)) {
    overlays.push_back({array.name(), role_of(array), stacked(profile(reads.of(array)))});
  }
  return overlays;
}

}  // namespace joulegrid
