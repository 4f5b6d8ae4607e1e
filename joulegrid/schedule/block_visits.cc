#include "joulegrid/schedule/block_visits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/schedule/nest_walk.h"

namespace joulegrid {

namespace {

constexpr std::size_t most_pieces = std::size_t{1} << 22;

/// One axis of a matrix whose rows (or columns) are told apart by kind.
struct Axis {
  AxisPieces pieces;       // in blocks
  std::vector<bool> last;  // by kind: of the last block
};

/// The blocks inside one block of an operand, at a depth that grows: a matrix of tallies by kinds of rows and columns.
class VisitGrid {
 public:
  VisitGrid(const NestBlocks& blocks, const NestWalk& walk, Tally start, const BlockShape& shape)
      : blocks_(blocks), walk_(walk), tallies_{std::move(start)} {
    rows_ = {{{0, 1}}, {shape.last_row}};
    columns_ = {{{0, 1}}, {shape.last_column}};
    grid_ = {{0}};
  }

  const Axis& rows() const { return rows_; }
  const Axis& columns() const { return columns_; }

  /// A loop over the absent dimension: changes every tally, no kind.
  void sum(std::size_t loop) {
    Renewal renewal(*this, loop);
    for (std::vector<std::uint32_t>& row : grid_) {
      for (std::uint32_t& tally : row) tally = renewal.inside(tally, std::nullopt);
    }
    tallies_ = renewal.tallies();
  }

  void split_rows(std::size_t loop) { split(rows_, loop); }

  void split_columns(std::size_t loop) {
    transpose();
    split(columns_, loop);
    transpose();
  }

  /// By row kind and column kind: every block's ways that end in it, less those that only stay over a step.
  std::vector<std::vector<Wide>> visits() const {
    std::vector<std::vector<Wide>> visits;
    for (const std::vector<std::uint32_t>& row : grid_) {
      std::vector<Wide>& out = visits.emplace_back();
      for (const std::uint32_t tally : row) {
        Wide all = 0;
        Wide stays = 0;
        for (const auto& [state, count] : tallies_[tally]) {
          Wide& sum = state.turning ? stays : all;
          sum = checked_add(sum, count);
        }
        out.push_back(checked_sub(all, stays));
      }
    }
    return visits;
  }

 private:
  /// The tallies inside a loop, each computed once and equal ones numbered alike.
  class Renewal {
   public:
    Renewal(const VisitGrid& grid, std::size_t loop) : grid_(grid), loop_(loop) {}

    std::uint32_t inside(std::uint32_t tally, const std::optional<IndexGroup::Kind>& group) {
      const auto [known, is_new] = known_.try_emplace({tally, group}, 0);
      if (is_new) {
        const auto next = static_cast<std::uint32_t>(numbers_.size());
        known->second = numbers_.try_emplace(grid_.walk_.inside(grid_.tallies_[tally], loop_, group), next).first->second;
      }
      return known->second;
    }

    std::vector<Tally> tallies() const {
      std::vector<Tally> tallies(numbers_.size());
      for (const auto& [tally, number] : numbers_) tallies[number] = tally;
      return tallies;
    }

   private:
    const VisitGrid& grid_;
    std::size_t loop_;
    std::map<std::pair<std::uint32_t, std::optional<IndexGroup::Kind>>, std::uint32_t> known_;
    std::map<Tally, std::uint32_t> numbers_;
  };

  /// Splits each row into those of the loop's indices.
  void split(Axis& axis, std::size_t loop) {
    Renewal renewal(*this, loop);
    std::map<std::pair<std::vector<std::uint32_t>, bool>, std::uint32_t> numbers;
    std::vector<std::map<IndexGroup::Kind, std::uint32_t>> children(grid_.size());
    for (std::size_t kind = 0; kind < grid_.size(); ++kind) {
      for (const IndexGroup& group : index_groups(trips(axis, kind, loop))) {
        std::vector<std::uint32_t> row;
        for (const std::uint32_t tally : grid_[kind]) row.push_back(renewal.inside(tally, group.kind));
        const auto next = static_cast<std::uint32_t>(numbers.size());
        const bool last = axis.last[kind] && group.is_last();
        children[kind][group.kind] = numbers.try_emplace({std::move(row), last}, next).first->second;
      }
    }
    axis.pieces = split_pieces(axis, children, loop);
    grid_.assign(numbers.size(), {});
    axis.last.assign(numbers.size(), false);
    for (const auto& [row, number] : numbers) {
      grid_[number] = row.first;
      axis.last[number] = row.second;
    }
    tallies_ = renewal.tallies();
  }

  std::uint64_t trips(const Axis& axis, std::size_t kind, std::size_t loop) const {
    return axis.last[kind] ? blocks_.last_trips(loop) : blocks_.trips(loop);
  }

  AxisPieces split_pieces(const Axis& axis, const std::vector<std::map<IndexGroup::Kind, std::uint32_t>>& children,
                          std::size_t loop) const {
    AxisPieces pieces;
    for (const AxisPiece& piece : axis.pieces) {
      const std::map<IndexGroup::Kind, std::uint32_t>& of = children[piece.kind];
      const std::uint64_t count = trips(axis, piece.kind, loop);
      const std::uint32_t some = of.begin()->second;
      if (std::all_of(of.begin(), of.end(), [&](const auto& child) { return child.second == some; })) {
        append(pieces, {some, piece.length * count});
        continue;
      }
      const bool alternate = count > 3 && of.at(IndexGroup::odd) != of.at(IndexGroup::even);
      const std::uint64_t parts = alternate ? count : std::min<std::uint64_t>(count, 3);
      if (checked_add(pieces.size(), checked_mul(piece.length, parts)) > most_pieces) {
        throw Error(ErrorCode::bad_input, "this nest has more than " + to_string(most_pieces) +
                                              " different blocks along one dimension; its exact price would take too long");
      }
      for (std::uint64_t block = 0; block < piece.length; ++block) {
        append(pieces, {of.at(IndexGroup::first), 1});
        if (alternate) {
          for (std::uint64_t i = 1; i + 1 < count; ++i)
            append(pieces, {of.at(i % 2 != 0 ? IndexGroup::odd : IndexGroup::even), 1});
        } else if (count > 2) {
          append(pieces, {of.at(IndexGroup::odd), count - 2});
        }
        append(pieces, {of.at(IndexGroup::last), 1});
      }
    }
    return pieces;
  }

  void transpose() {
    std::vector<std::vector<std::uint32_t>> other(grid_[0].size(), std::vector<std::uint32_t>(grid_.size()));
    for (std::size_t row = 0; row < grid_.size(); ++row) {
      for (std::size_t column = 0; column < other.size(); ++column) other[column][row] = grid_[row][column];
    }
    grid_ = std::move(other);
  }

  const NestBlocks& blocks_;
  const NestWalk& walk_;
  std::vector<Tally> tallies_;
  std::vector<std::vector<std::uint32_t>> grid_;  // by row kind, then column kind: a number of a tally
  Axis rows_, columns_;
};

/// Pieces counted in blocks become pieces counted in elements.
AxisPieces in_elements(const NestBlocks& blocks, Dimension dimension, std::size_t depth, const Axis& axis) {
  AxisPieces pieces;
  for (const AxisPiece& piece : axis.pieces) {
    const std::uint64_t extent = axis.last[piece.kind] ? blocks.last_extent(dimension, depth) : blocks.extent(dimension, depth);
    append(pieces, {piece.kind, piece.length * extent});
  }
  return pieces;
}

}  // namespace

std::vector<BlockShape> block_shapes(const NestBlocks& blocks, Operand operand, std::size_t depth) {
  const Axes axes = axes_of(operand);
  std::vector<BlockShape> shapes;
  for (const bool last_row : {false, true}) {
    for (const bool last_column : {false, true}) {
      BlockShape shape{last_row, last_column, 1, 1, 1};
      const auto along = [&](Dimension dimension, bool last, std::uint64_t& extent) {
        const std::uint64_t whole = blocks.count(dimension, depth) - (blocks.clipped(dimension) ? 1 : 0);
        extent = last ? blocks.last_extent(dimension, depth) : blocks.extent(dimension, depth);
        shape.blocks = checked_mul(shape.blocks, !last ? whole : blocks.clipped(dimension) ? 1 : 0);
      };
      along(axes.rows, last_row, shape.rows);
      along(axes.columns, last_column, shape.columns);
      if (shape.blocks > 0) shapes.push_back(shape);
    }
  }
  return shapes;
}

ReadPattern block_visits(const NestBlocks& blocks, Operand operand, const BlockShape& shape, std::size_t outer,
                         std::size_t inner) {
  const Axes axes = axes_of(operand);
  const NestWalk walk(blocks, operand);
  Tally tally = walk.start();
  for (std::size_t loop = 0; loop < outer; ++loop) tally = walk.inside(tally, loop, std::nullopt);
  std::erase_if(tally, [&](const std::pair<WalkState, Wide>& ways) {
    const auto is_last = [&](Dimension dimension) { return (ways.first.last & NestWalk::bit(dimension)) != 0; };
    return is_last(axes.rows) != shape.last_row || is_last(axes.columns) != shape.last_column;
  });
  VisitGrid grid(blocks, walk, std::move(tally), shape);
  for (std::size_t loop = outer; loop < inner; ++loop) {
    const Dimension dimension = blocks.nest().loops[loop].dimension;
    if (dimension == axes.absent) {
      grid.sum(loop);
    } else if (dimension == axes.rows) {
      grid.split_rows(loop);
    } else {
      grid.split_columns(loop);
    }
  }
  return {in_elements(blocks, axes.rows, inner, grid.rows()), in_elements(blocks, axes.columns, inner, grid.columns()),
          grid.visits()};
}

}  // namespace joulegrid
