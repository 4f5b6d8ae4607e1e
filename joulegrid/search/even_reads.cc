#include "joulegrid/search/even_reads.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace joulegrid {

namespace {

/// An operand's buffers, outermost first.
struct Buffers {
  std::size_t count = 0;
  std::array<double, LoopOrder::capacity> arrivals;  // elements that come to the buffer, over all its visits
  std::array<double, LoopOrder::capacity> cells;
};

/// Writes the reads of an operand's bulk array and buffers; `products` is m·k·n.
void add_operand(Operand operand, const Buffers& buffers, double bulk_cells, double products, bool through, EvenReads& out) {
  const auto bulk = static_cast<std::size_t>(operand);
  out.cells[bulk] = bulk_cells;
  out.reads_per_cell[bulk] = (buffers.count > 0 ? buffers.arrivals[0] : products) / bulk_cells;
  double copies = 0;
  for (std::size_t level = 0; level < buffers.count; ++level) {
    const bool innermost = level + 1 == buffers.count;
    double reads = innermost ? products : buffers.arrivals[level + 1];
    if (through) {
      if (operand == Operand::c || !innermost) reads -= buffers.arrivals[level];
      if (innermost && operand != Operand::c) reads += copies;
      copies += buffers.arrivals[level];
    }
    out.cells[out.arrays] = buffers.cells[level];
    out.reads_per_cell[out.arrays] = std::max(reads, 0.0) / buffers.cells[level];
    ++out.arrays;
  }
}

}  // namespace

void even_reads(const NestDraft& draft, EvenReads& out) {
  constexpr std::array<std::size_t, 3> rows{0, 2, 0};  // by Operand
  constexpr std::array<std::size_t, 3> columns{2, 1, 1};
  constexpr std::array<std::size_t, 3> absent{1, 0, 2};
  const LoopOrder& order = draft.order;
  const std::array<Cuts, 3>& cuts = draft.cuts;
  std::array<Buffers, 3> buffers;
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
      Buffers& of = buffers[x];
      of.arrivals[of.count] = visits * of_rows.mean[r] * of_columns.mean[c];
      of.cells[of.count] = of_rows.whole[r] * of_columns.whole[c];
      ++of.count;
    }
  }
  const double m = cuts[0].whole[0];
  const double n = cuts[1].whole[0];
  const double k = cuts[2].whole[0];
  const double products = m * k * n;
  out.arrays = EvenReads::first_buffer;
  add_operand(Operand::a, buffers[0], m * k, products, order.through, out);
  add_operand(Operand::b, buffers[1], k * n, products, order.through, out);
  add_operand(Operand::c, buffers[2], m * n, products, order.through, out);
  const Buffers& sums = buffers[2];
  out.cells[EvenReads::tmp] = 1;
  out.reads_per_cell[EvenReads::tmp] =
      std::max(0.0, products - (order.through || sums.count == 0 ? m * n : sums.arrivals[sums.count - 1]));
}

double distance_sum_of(double cells) {
  const double root = std::floor(std::sqrt(cells));
  return root * (root + 1) * (4 * root - 1) * (1.0 / 6) + (cells - root * root) * (root + 1);
}

double even_steps(const EvenReads& reads) {
  // Each array goes to the place that the number of more read ones says; equally read ones meet there, and leave as many
  // places empty.
  constexpr std::size_t lanes = 4;
  const std::size_t arrays = reads.arrays;
  const std::size_t padded = (arrays + lanes - 1) / lanes * lanes;
  std::array<double, EvenReads::capacity + lanes> key;
  std::array<double, EvenReads::capacity + lanes> sorted;
  std::array<double, EvenReads::capacity + lanes> cells;
  for (std::size_t i = 0; i < arrays; ++i) key[i] = reads.reads_per_cell[i];
  for (std::size_t i = arrays; i < padded; ++i) key[i] = -1;
  for (std::size_t i = 0; i <= padded; ++i) cells[i] = 0;
  for (std::size_t i = 0; i < arrays; ++i) {
    std::array<double, lanes> more{};
    for (std::size_t j = 0; j < padded; j += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) more[lane] += key[j + lane] > key[i] ? 1.0 : 0.0;
    }
    const auto place = static_cast<std::size_t>((more[0] + more[1]) + (more[2] + more[3]));
    sorted[place] = key[i];
    cells[place] += reads.cells[i];
  }
  double last = 0;
  double end = 0;
  for (std::size_t i = 0; i < arrays; ++i) {
    last = cells[i] > 0 ? sorted[i] : last;
    sorted[i] = last;
    cells[i] = end += cells[i];
  }
  // By parts: the first n cells are read so much oftener than the next.
  sorted[arrays] = 0;
  double steps = 0;
  for (std::size_t i = 0; i < arrays; ++i) steps += distance_sum_of(cells[i]) * (sorted[i] - sorted[i + 1]);
  return steps;
}

}  // namespace joulegrid
