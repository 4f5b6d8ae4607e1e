#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "joulegrid/schedule/nest.h"

namespace joulegrid::test {

/// How often each cell is read, by array.
using Reads = std::map<std::string, std::vector<std::uint64_t>>;

/// Without arrays, and cells at the end of an array, that nobody reads.
inline Reads trimmed(Reads reads) {
  for (auto& [name, cells] : reads) {
    while (!cells.empty() && cells.back() == 0) cells.pop_back();
  }
  std::erase_if(reads, [](const auto& array) { return array.second.empty(); });
  return reads;
}

/// Memory that counts the reads of every cell, by array, and knows the values.
class CountingMemory {
 public:
  std::int64_t read(const std::string& array, std::size_t cell) {
    Cell& c = at(array, cell);
    ++c.reads;
    EXPECT_TRUE(c.value.has_value()) << array << "[" << cell << "] was never written";
    return c.value.value_or(0);
  }
  void write(const std::string& array, std::size_t cell, std::int64_t value) { at(array, cell).value = value; }

  Reads reads() const {
    Reads reads;
    for (const auto& [array, cells] : arrays_) {
      for (const Cell& cell : cells) reads[array].push_back(cell.reads);
    }
    return reads;
  }

 private:
  struct Cell {
    std::optional<std::int64_t> value;
    std::uint64_t reads = 0;
  };
  Cell& at(const std::string& array, std::size_t cell) {
    std::vector<Cell>& cells = arrays_[array];
    if (cells.size() <= cell) cells.resize(cell + 1);
    return cells[cell];
  }
  std::map<std::string, std::vector<Cell>> arrays_;
};

/// The semantics of docs/loop-nests.md taken word by word, slowly: all products are listed in order first, so that "the last of
/// its visit" can be looked up. Knows nothing of blocks that stay, and counts nothing but what it executes.
class LiteralNest {
 public:
  LiteralNest(const Gemm& gemm, const Nest& nest) : nest_(nest), gemm_(gemm) {
    std::vector<std::uint64_t> entries(nest.loops.size(), 0);
    list({0, 0, 0}, 0, entries);
    for (const Operand operand : all_operands) buffers(operand);
  }

  /// Executes all products, and reads C at exit; expects it to be the product of the random A and B.
  Reads run(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto value = [&] { return static_cast<std::int64_t>(random() % 201) - 100; };
    std::vector<std::int64_t> a(gemm_.m * gemm_.k), b(gemm_.k * gemm_.n);
    for (std::size_t i = 0; i < a.size(); ++i) memory_.write("A", i, a[i] = value());
    for (std::size_t i = 0; i < b.size(); ++i) memory_.write("B", i, b[i] = value());
    for (time_ = 0; time_ < points_.size(); ++time_) {
      if (!nest_.through) leave_c();
      const Place pa = fetch(Operand::a);
      const Place pb = fetch(Operand::b);
      const std::int64_t product = memory_.read(pa.array, pa.cell) * memory_.read(pb.array, pb.cell);
      if (nest_.through) {
        arrive_through(product);
      } else {
        arrive(product);
      }
    }
    if (!nest_.through) leave_c();
    for (std::uint64_t i = 0; i < gemm_.m; ++i) {
      for (std::uint64_t j = 0; j < gemm_.n; ++j) {
        std::int64_t sum = 0;
        for (std::uint64_t k = 0; k < gemm_.k; ++k) sum += a[i * gemm_.k + k] * b[k * gemm_.n + j];
        EXPECT_EQ(memory_.read("C", i * gemm_.n + j), sum);
      }
    }
    return memory_.reads();
  }

 private:
  using Point = std::array<std::uint64_t, 3>;  // by dimension
  struct Place {
    std::string array;
    std::size_t cell;
  };
  /// One level of an operand; level 0 is the bulk array.
  struct Level {
    std::uint64_t rows, columns;                                  // of a whole block
    std::vector<std::size_t> visit;                               // by time
    std::vector<std::pair<std::uint64_t, std::uint64_t>> corner;  // by time: first row and column of the block
    std::map<std::size_t, std::size_t> present;                   // by element: the visit in which it was last written
  };

  static std::uint64_t of(const Point& point, Dimension d) { return point[static_cast<std::size_t>(d)]; }

  std::uint64_t extent(Dimension dimension, std::size_t depth) const {
    std::uint64_t extent = 1;
    for (std::size_t i = depth; i < nest_.loops.size(); ++i) {
      if (nest_.loops[i].dimension == dimension) extent *= nest_.loops[i].trips;
    }
    return extent;
  }

  void list(Point point, std::size_t depth, std::vector<std::uint64_t>& entries) {
    if (depth == nest_.loops.size()) {
      points_.push_back(point);
      return;
    }
    const Loop& loop = nest_.loops[depth];
    const bool backwards = nest_.reflected && entries[depth]++ % 2 == 1;
    const std::uint64_t begin = of(point, loop.dimension);
    for (std::uint64_t i = 0; i < loop.trips; ++i) {
      const std::uint64_t index = backwards ? loop.trips - 1 - i : i;
      const std::uint64_t at = begin + index * extent(loop.dimension, depth + 1);
      if (at >= size_of(gemm_, loop.dimension)) continue;
      point[static_cast<std::size_t>(loop.dimension)] = at;
      list(point, depth + 1, entries);
    }
  }

  void buffers(Operand operand) {
    const Axes axes = axes_of(operand);
    std::vector<std::size_t> depths = nest_.depths(operand);
    depths.insert(depths.begin(), 0);
    for (const std::size_t depth : depths) {
      Level level{extent(axes.rows, depth), extent(axes.columns, depth), {}, {}, {}};
      for (const Point& point : points_) {
        const std::pair corner{of(point, axes.rows) / level.rows * level.rows,
                               of(point, axes.columns) / level.columns * level.columns};
        const bool same = !level.corner.empty() && level.corner.back() == corner;
        level.visit.push_back(level.visit.empty() ? 1 : level.visit.back() + (same ? 0 : 1));
        level.corner.push_back(corner);
      }
      levels(operand).push_back(std::move(level));
    }
  }

  std::vector<Level>& levels(Operand operand) { return levels_[static_cast<std::size_t>(operand)]; }

  /// Where element (row, column) lies in a level's block of time `time`.
  Place place(Operand operand, std::size_t level, std::uint64_t row, std::uint64_t column, std::size_t time) {
    const Level& l = levels(operand)[level];
    const auto [first_row, first_column] = l.corner[time];
    const std::uint64_t width = std::min(l.columns, size_of(gemm_, axes_of(operand).columns) - first_column);
    return {std::string(1, letter(operand)) + (level == 0 ? "" : "@" + std::to_string(level)),
            (row - first_row) * width + (column - first_column)};
  }
  Place place_now(Operand operand, std::size_t level) {
    const Axes axes = axes_of(operand);
    return place(operand, level, of(points_[time_], axes.rows), of(points_[time_], axes.columns), time_);
  }

  std::size_t element(Operand operand, std::uint64_t row, std::uint64_t column) const {
    return row * size_of(gemm_, axes_of(operand).columns) + column;
  }

  void copy(const Place& from, const Place& to) { memory_.write(to.array, to.cell, memory_.read(from.array, from.cell)); }

  /// Brings the operand's element to where the product reads it.
  Place fetch(Operand operand) {
    std::vector<Level>& all = levels(operand);
    const Axes axes = axes_of(operand);
    const std::size_t innermost = all.size() - 1;
    if (!nest_.through) {
      for (std::size_t level = 1; level <= innermost; ++level) {
        const Level& l = all[level];
        if (time_ > 0 && l.visit[time_] == l.visit[time_ - 1]) continue;
        const auto [first_row, first_column] = l.corner[time_];
        const std::uint64_t end_row = std::min(first_row + l.rows, size_of(gemm_, axes.rows));
        const std::uint64_t end_column = std::min(first_column + l.columns, size_of(gemm_, axes.columns));
        for (std::uint64_t row = first_row; row < end_row; ++row) {
          for (std::uint64_t column = first_column; column < end_column; ++column) {
            copy(place(operand, level - 1, row, column, time_), place(operand, level, row, column, time_));
          }
        }
      }
      return place_now(operand, innermost);
    }
    const std::size_t x = element(operand, of(points_[time_], axes.rows), of(points_[time_], axes.columns));
    const auto has = [&](std::size_t level) { return level == 0 || all[level].present[x] == all[level].visit[time_]; };
    if (!has(innermost)) {
      std::size_t source = innermost;
      while (!has(source)) --source;
      copy(place_now(operand, source), place_now(operand, innermost));
      all[innermost].present[x] = all[innermost].visit[time_];
      for (std::size_t level = 1; level < innermost; ++level) {
        if (has(level)) continue;
        copy(place_now(operand, innermost), place_now(operand, level));
        all[level].present[x] = all[level].visit[time_];
      }
    }
    return place_now(operand, innermost);
  }

  /// The element of C at the current time.
  std::size_t element_of_c() const {
    return element(Operand::c, of(points_[time_], Dimension::m), of(points_[time_], Dimension::n));
  }

  void add(const Place& to, const Place& from) {
    const std::int64_t left = memory_.read(from.array, from.cell);
    memory_.write(to.array, to.cell, left + memory_.read("tmp", 0));
  }

  void arrive(std::int64_t product) {
    Level& inner = levels(Operand::c).back();
    const Place cell = place_now(Operand::c, levels(Operand::c).size() - 1);
    std::size_t& present = inner.present[element_of_c()];
    if (present == inner.visit[time_]) {
      memory_.write("tmp", 0, product);
      add(cell, cell);
    } else {
      memory_.write(cell.array, cell.cell, product);
      present = inner.visit[time_];
    }
  }

  /// Merges every buffer of C whose visit ended before the current time into the next outer one, innermost first.
  void leave_c() {
    std::vector<Level>& all = levels(Operand::c);
    if (time_ == 0) return;
    for (std::size_t level = all.size(); level-- > 1;) {
      Level& l = all[level];
      if (time_ < points_.size() && l.visit[time_] == l.visit[time_ - 1]) continue;
      for (auto& [x, visit] : l.present) {
        if (visit != l.visit[time_ - 1]) continue;
        const std::uint64_t row = x / gemm_.n;
        const std::uint64_t column = x % gemm_.n;
        const Place from = place(Operand::c, level, row, column, time_ - 1);
        const Place to = place(Operand::c, level - 1, row, column, time_ - 1);
        std::size_t& outer = all[level - 1].present[x];
        if (outer == all[level - 1].visit[time_ - 1]) {
          const std::int64_t left = memory_.read(to.array, to.cell);
          memory_.write(to.array, to.cell, left + memory_.read(from.array, from.cell));
        } else {
          copy(from, to);
          outer = all[level - 1].visit[time_ - 1];
        }
      }
    }
  }

  /// The current element of C comes again within the current visit of the level.
  bool comes_again(std::size_t level) {
    const Level& l = levels(Operand::c)[level];
    for (std::size_t t = time_ + 1; t < points_.size() && l.visit[t] == l.visit[time_]; ++t) {
      if (points_[t][0] == points_[time_][0] && points_[t][1] == points_[time_][1]) return true;
    }
    return false;
  }

  void arrive_through(std::int64_t product) {
    std::vector<Level>& all = levels(Operand::c);
    const std::size_t x = element_of_c();
    const auto has = [&](std::size_t level) { return all[level].present[x] == all[level].visit[time_]; };
    Place partial{};      // a cell whose sum with the value in tmp is on its way outward; no array: none
    bool in_tmp = false;  // the value on its way is in tmp
    const auto to_tmp = [&] {
      if (!in_tmp) memory_.write("tmp", 0, product);
      in_tmp = true;
      if (!partial.array.empty()) add({"tmp", 0}, partial);
      partial = {};
    };
    for (std::size_t level = all.size();;) {
      --level;
      const Place cell = place_now(Operand::c, level);
      const bool last = level > 0 && !comes_again(level);
      if (has(level)) {
        to_tmp();
        if (!last) {
          add(cell, cell);
          return;
        }
        partial = cell;  // the last arrival: the sum goes on
        all[level].present[x] = 0;
      } else if (!last) {  // the first arrival
        if (!partial.array.empty()) {
          add(cell, partial);
        } else if (in_tmp) {
          ADD_FAILURE() << "a sum in tmp without a cell";
        } else {
          memory_.write(cell.array, cell.cell, product);
        }
        all[level].present[x] = all[level].visit[time_];
        return;
      }
    }
  }

  const Nest nest_;
  const Gemm gemm_;
  std::vector<Point> points_;
  std::array<std::vector<Level>, 3> levels_;
  CountingMemory memory_;
  std::size_t time_ = 0;
};

/// A nest with up to `most_loops` loops and random marks. Perfect: the GEMM has the size of its trips; otherwise some
/// dimensions are smaller than that.
struct RandomNest {
  Nest nest;
  Gemm gemm;
};
inline RandomNest random_nest(std::mt19937_64& random, bool perfect, std::uint64_t most_products) {
  for (;;) {
    RandomNest result;
    std::array<std::uint64_t, 3> product{1, 1, 1};
    const std::uint64_t loops = random() % 9 + 1;
    for (std::uint64_t i = 0; i < loops; ++i) {
      const Loop loop{all_dimensions[random() % 3], random() % 8 == 0 ? 1 : random() % 4 + (random() % 3 == 0 ? 2 : 1)};
      result.nest.loops.push_back(loop);
      product[static_cast<std::size_t>(loop.dimension)] *= loop.trips;
    }
    const std::uint64_t density = random() % 3 + 2;
    for (std::size_t depth = 1; depth <= loops; ++depth) {
      for (const Operand operand : all_operands) {
        if (random() % density == 0) result.nest.marks.push_back({depth, operand});
      }
    }
    result.nest.through = random() % 2 == 0;
    result.nest.reflected = random() % 2 == 0;
    const auto size = [&](std::uint64_t trips) { return perfect || random() % 4 == 0 ? trips : random() % trips + 1; };
    result.gemm = {size(product[0]), size(product[2]), size(product[1])};
    if (result.gemm.macs() <= most_products) return result;
  }
}

}  // namespace joulegrid::test
