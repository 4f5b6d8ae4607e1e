#include "joulegrid/schedule/nest_program.h"

#include <algorithm>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

using enum NestInstruction::Operation;

constexpr NestCell tmp{NestCell::Array::tmp, 0, 0};

}  // namespace

NestProgram::NestProgram(const Gemm& gemm, const Nest& nest)
    : blocks_(gemm, nest),
      marks_(nest.loops.size() + 1),
      backwards_(nest.loops.size(), false),
      final_(nest.loops.size(), false),
      single_(nest.loops.size(), false) {
  for (const Operand operand : all_operands) {
    levels(operand).push_back({0, block_at(operand, 0), {}});
    for (const std::size_t depth : nest.depths(operand)) {
      marks_[depth].emplace_back(operand, levels(operand).size());
      levels(operand).push_back({depth, {}, {}});
    }
  }
}

NestCell NestProgram::cell_of(Operand operand, std::size_t level, std::uint64_t cell) {
  return {static_cast<NestCell::Array>(operand), static_cast<std::uint32_t>(level), cell};
}

void NestProgram::emit(NestInstruction::Operation operation, const NestCell& destination, const NestCell& left,
                       const NestCell& right) {
  (*visit_)({operation, destination, left, right});
}

NestProgram::Block NestProgram::block_at(Operand operand, std::size_t depth) const {
  const Axes axes = axes_of(operand);
  Block block;
  const auto along = [&](Dimension dimension, std::uint64_t& first, std::uint64_t& length) {
    const std::uint64_t extent = blocks_.extent(dimension, depth);
    first = at_[static_cast<std::size_t>(dimension)] / extent * extent;
    length = std::min(extent, size_of(blocks_.gemm(), dimension) - first);
  };
  along(axes.rows, block.first_row, block.rows);
  along(axes.columns, block.first_column, block.columns);
  return block;
}

void NestProgram::run(const Visitor& visit) {
  visit_ = &visit;
  at_ = {};
  std::fill(backwards_.begin(), backwards_.end(), false);
  for (const Operand operand : all_operands) {
    for (std::size_t level = 1; level < levels(operand).size(); ++level) levels(operand)[level].block = {};
  }
  levels(Operand::c)[0].present.assign(levels(Operand::c)[0].block.cells(), false);
  walk(0);
  for (std::size_t level = levels(Operand::c).size(); level-- > 1;) merge(level);
}

void NestProgram::walk(std::size_t depth) {
  for (const auto& [operand, level] : marks_[depth]) {
    if (levels(operand)[level].block != block_at(operand, depth)) enter(operand, level);
  }
  if (depth == blocks_.loops()) return product();
  const Dimension dimension = blocks_.nest().loops[depth].dimension;
  const std::uint64_t step = blocks_.extent(dimension, depth + 1);
  std::uint64_t& at = at_[static_cast<std::size_t>(dimension)];
  const std::uint64_t begin = at;
  const std::uint64_t trips = std::min(blocks_.trips(depth), ceil_div(size_of(blocks_.gemm(), dimension) - begin, step));
  single_[depth] = trips == 1;
  const bool backwards = backwards_[depth];
  for (std::uint64_t i = 0; i < trips; ++i) {
    final_[depth] = i + 1 == trips;
    at = begin + (backwards ? trips - 1 - i : i) * step;
    walk(depth + 1);
  }
  at = begin;
  if (blocks_.nest().reflected) backwards_[depth] = !backwards;
}

/// The walk comes to another block: a new visit begins.
void NestProgram::enter(Operand operand, std::size_t level) {
  std::vector<Level>& all = levels(operand);
  if (operand == Operand::c) {
    // With the block of this buffer those of all inner ones change; they hand outward what they have first.
    for (std::size_t inner = all.size(); inner-- > level;) merge(inner);
  }
  Level& entered = all[level];
  entered.block = block_at(operand, entered.depth);
  entered.present.assign(entered.block.cells(), false);
  if (operand != Operand::c && !blocks_.nest().through) fill(operand, level);
}

void NestProgram::fill(Operand operand, std::size_t level) {
  const Block& outer = levels(operand)[level - 1].block;
  const Block& inner = levels(operand)[level].block;
  for (std::uint64_t row = inner.first_row; row < inner.first_row + inner.rows; ++row) {
    for (std::uint64_t column = inner.first_column; column < inner.first_column + inner.columns; ++column) {
      const NestCell from = cell_of(operand, level - 1, outer.cell(row, column));
      emit(copy, cell_of(operand, level, inner.cell(row, column)), from, from);
    }
  }
}

/// Hands the sums of a buffer of C to the next outer one and leaves it empty. With `through` nothing is left to hand on.
void NestProgram::merge(std::size_t level) {
  Level& inner = levels(Operand::c)[level];
  Level& outer = levels(Operand::c)[level - 1];
  for (std::uint64_t i = 0; i < inner.present.size(); ++i) {
    if (!inner.present[i]) continue;
    const std::uint64_t row = inner.block.first_row + i / inner.block.columns;
    const std::uint64_t column = inner.block.first_column + i % inner.block.columns;
    const std::uint64_t j = outer.block.cell(row, column);
    const NestCell from = cell_of(Operand::c, level, i);
    const NestCell to = cell_of(Operand::c, level - 1, j);
    if (outer.present[j]) {
      emit(add, to, to, from);
    } else {
      emit(copy, to, from, from);
      outer.present[j] = true;
    }
  }
  inner.present.assign(inner.present.size(), false);
}

void NestProgram::product() {
  const NestCell a = fetch(Operand::a);
  const NestCell b = fetch(Operand::b);
  arrive(a, b);
}

/// The innermost cell with the operand's current element, brought there first if need be.
NestCell NestProgram::fetch(Operand operand) {
  std::vector<Level>& all = levels(operand);
  const Axes axes = axes_of(operand);
  const std::uint64_t row = at_[static_cast<std::size_t>(axes.rows)];
  const std::uint64_t column = at_[static_cast<std::size_t>(axes.columns)];
  const auto cell = [&](std::size_t level) { return cell_of(operand, level, all[level].block.cell(row, column)); };
  const auto lacks = [&](std::size_t level) { return level > 0 && !all[level].present[all[level].block.cell(row, column)]; };
  const auto bring = [&](std::size_t level, const NestCell& from) {
    emit(copy, cell(level), from, from);
    all[level].present[cell(level).cell] = true;
  };
  const std::size_t innermost = all.size() - 1;
  if (blocks_.nest().through && lacks(innermost)) {
    std::size_t source = innermost;
    while (lacks(source)) --source;
    bring(innermost, cell(source));
    for (std::size_t level = 1; level < innermost; ++level) {
      if (lacks(level)) bring(level, cell(innermost));
    }
  }
  return cell(innermost);
}

/// The product of a and b comes to its element of C.
void NestProgram::arrive(const NestCell& a, const NestCell& b) {
  std::vector<Level>& all = levels(Operand::c);
  const std::uint64_t row = at_[static_cast<std::size_t>(Dimension::m)];
  const std::uint64_t column = at_[static_cast<std::size_t>(Dimension::n)];
  const std::size_t target = blocks_.nest().through ? level_that_comes_again() : all.size() - 1;
  const auto cell = [&](std::size_t level) { return cell_of(Operand::c, level, all[level].block.cell(row, column)); };

  // The sums that the value joins on its way outward, and the last of them.
  std::size_t outermost = all.size();
  for (std::size_t level = all.size(); level-- > target;) {
    if (all[level].present[cell(level).cell]) outermost = level;
  }
  if (outermost == all.size()) {
    emit(mul, cell(target), a, b);
  } else {
    emit(mul, tmp, a, b);
    for (std::size_t level = all.size(); level-- > outermost;) {
      if (!all[level].present[cell(level).cell]) continue;
      emit(add, level == outermost ? cell(target) : tmp, cell(level), tmp);
      all[level].present[cell(level).cell] = false;
    }
  }
  all[target].present[cell(target).cell] = true;
}

/// The innermost level of C that sees the current element again in its current visit; the bulk array if none does.
///
/// The element comes again with the next index of the innermost loop over k that is not at the end of its pass. Until then a
/// block stays if that loop is inside it, or if all loops in between are at the end of their passes and begin the next one with
/// the same block.
std::size_t NestProgram::level_that_comes_again() const {
  const std::vector<Level>& all = levels_[static_cast<std::size_t>(Operand::c)];
  std::size_t next = blocks_.loops();
  while (next > 0 && (blocks_.nest().loops[next - 1].dimension != Dimension::k || final_[next - 1])) --next;
  if (next == 0) return 0;
  std::size_t depth = next;  // blocks of C stay down to here
  while (depth < blocks_.loops() && final_[depth] &&
         (blocks_.nest().reflected || single_[depth] || blocks_.nest().loops[depth].dimension == Dimension::k)) {
    ++depth;
  }
  std::size_t level = all.size() - 1;
  while (all[level].depth > depth) --level;
  return level;
}

}  // namespace joulegrid
