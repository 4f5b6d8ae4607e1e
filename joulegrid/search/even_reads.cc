#include "joulegrid/search/even_reads.h"

#include <algorithm>

namespace joulegrid {

namespace {

constexpr std::array<std::size_t, 3> rows{0, 2, 0};  // dimensions by operand
constexpr std::array<std::size_t, 3> columns{2, 1, 1};
constexpr std::array<std::size_t, 3> absent{1, 0, 2};

/// The reads of one operand's arrays, from the bulk array inward.
class OperandReads {
 public:
  OperandReads(Operand operand, bool through, double bulk_cells, EvenReads& out)
      : moves_up_(operand == Operand::c), through_(through), array_(static_cast<std::size_t>(operand)), out_(out) {
    out.cells[array_] = bulk_cells;
  }

  /// The next buffer inward is `array`; so many elements come to it over all its visits.
  void add(std::size_t array, double arrivals) {
    set(arrivals - (through_ ? arrivals_ : 0));
    copies_ += arrivals_;
    array_ = array;
    arrivals_ = arrivals;
  }

  /// All buffers have been added. Returns what has come to the innermost one.
  double finish(double products) {
    if (!through_) {
      set(products);
    } else {
      set(moves_up_ ? products - arrivals_ : products + copies_);
    }
    return arrivals_;
  }

 private:
  void set(double reads) { out_.reads_per_cell[array_] = std::max(reads, 0.0) / out_.cells[array_]; }

  bool moves_up_;  // results do; operands come down
  bool through_;
  std::size_t array_;
  double arrivals_ = 0;  // at array_; the bulk array has its elements already
  double copies_ = 0;    // of elements that came to the buffers outside array_
  EvenReads& out_;
};

}  // namespace

void even_reads(const NestDraft& draft, EvenReads& out) {
  const LoopOrder& order = draft.order;
  const std::array<Cuts, 3>& cuts = draft.cuts;
  const double m = cuts[0].whole[0];
  const double n = cuts[1].whole[0];
  const double k = cuts[2].whole[0];
  std::array<OperandReads, 3> operands{OperandReads(Operand::a, order.through, m * k, out),
                                       OperandReads(Operand::b, order.through, k * n, out),
                                       OperandReads(Operand::c, order.through, m * n, out)};
  out.arrays = EvenReads::first_buffer;
  std::array<std::size_t, 3> around{};     // loops so far, by Dimension
  std::array<double, 3> blocks{1, 1, 1};   // likewise
  double changes = 1;                      // times that the walk has come to a block, the first included
  std::array<double, 3> kept{};            // of these, steps in which only this dimension's block changes
  std::array<double, 3> forward{1, 1, 1};  // visits, by Operand
  for (std::size_t at = 0; at < order.loops; ++at) {
    const std::size_t dimension = order.dimensions[at];
    const double now = cuts[dimension].blocks[++around[dimension]];
    const double others = blocks[(dimension + 1) % 3] * blocks[(dimension + 2) % 3];
    const double steps = (now - blocks[dimension]) * others;
    changes += steps;
    kept[dimension] += steps;
    blocks[dimension] = now;
    if (!order.reflected && steps > 0) {
      const double iterations = others * now;
      for (std::size_t x = 0; x < 3; ++x) {
        if (absent[x] != dimension) forward[x] = iterations;
      }
    }
    for (unsigned marks = order.marks[at + 1]; marks != 0; marks &= marks - 1) {
      const auto x = static_cast<std::size_t>(__builtin_ctz(marks));
      const double visits = order.reflected ? changes - kept[absent[x]] : forward[x];
      const Cuts& of_rows = cuts[rows[x]];
      const Cuts& of_columns = cuts[columns[x]];
      const std::size_t r = around[rows[x]];
      const std::size_t c = around[columns[x]];
      out.cells[out.arrays] = of_rows.whole[r] * of_columns.whole[c];
      operands[x].add(out.arrays, visits * of_rows.mean[r] * of_columns.mean[c]);
      ++out.arrays;
    }
  }
  const double products = m * k * n;
  operands[0].finish(products);
  operands[1].finish(products);
  const double sums = operands[2].finish(products);
  out.cells[EvenReads::tmp] = 1;
  // Without buffers each product but the first of an element is added from tmp, too.
  out.reads_per_cell[EvenReads::tmp] = std::max(0.0, products - (order.through || sums == 0 ? m * n : sums));
}

double even_steps(const EvenReads& reads) {
  // By reads, most read first. tmp is nearly always that; the buffers are there by depth, which is nearly that order backwards.
  std::array<double, EvenReads::capacity + 1> reads_per_cell;
  std::array<double, EvenReads::capacity> cells;
  std::size_t arrays = 0;
  const auto insert = [&](std::size_t array) {
    const double of_array = reads.reads_per_cell[array];
    if (of_array <= 0) return;
    std::size_t at = arrays++;
    for (; at > 0 && of_array > reads_per_cell[at - 1]; --at) {
      reads_per_cell[at] = reads_per_cell[at - 1];
      cells[at] = cells[at - 1];
    }
    reads_per_cell[at] = of_array;
    cells[at] = reads.cells[array];
  };
  insert(EvenReads::tmp);
  for (std::size_t array = reads.arrays; array-- > EvenReads::first_buffer;) insert(array);
  for (std::size_t bulk = 0; bulk < EvenReads::tmp; ++bulk) insert(bulk);
  reads_per_cell[arrays] = 0;
  // By parts: the cells up to here are read so much oftener than the next.
  double steps = 0;
  double end = 0;
  for (std::size_t i = 0; i < arrays; ++i) {
    end += cells[i];
    steps += distance_sum_of(end) * (reads_per_cell[i] - reads_per_cell[i + 1]);
  }
  return steps;
}

}  // namespace joulegrid
