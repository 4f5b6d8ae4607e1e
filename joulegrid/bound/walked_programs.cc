#include "joulegrid/bound/walked_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <list>

#include "joulegrid/grid/distance.h"

namespace joulegrid::testing {

namespace {

bool relevant(char operand, char dimension) {
  switch (operand) {
    case 'A': return dimension != 'n';
    case 'B': return dimension != 'm';
    default: return dimension != 'k';
  }
}

/// One buffer of an operand, or its whole array (depth 0).
struct NestBuffer {
  std::string name;
  std::size_t depth = 0;           ///< items outside
  std::uint64_t block = ~0ULL;     ///< which block it holds
  std::vector<char> arrived = {};  ///< of C: the sums that have begun
};

class NestWalk {
 public:
  explicit NestWalk(const std::vector<NestItem>& nest) : nest_(nest), index_(nest.size()) {
    for (const char operand : {'A', 'B', 'C'}) {
      std::vector<NestBuffer>& buffers = buffers_[operand];
      buffers.push_back({std::string(1, operand), 0});
      for (std::size_t i = 0; i < nest.size(); ++i)
        if (nest[i].letter == operand) buffers.push_back({operand + std::to_string(buffers.size()), i + 1});
    }
  }

  ReadCounts run() {
    loop(0);
    std::vector<NestBuffer>& c = buffers_['C'];
    for (std::size_t level = c.size() - 1; level > 0; --level) merge(level);
    for (std::uint64_t cell = 0; cell < size('C', 0); ++cell) counts_.read("C", cell);
    return counts_;
  }

 private:
  void loop(std::size_t depth) {
    if (depth == nest_.size()) return product();
    if (nest_[depth].trips == 0) return loop(depth + 1);
    for (index_[depth] = 0; index_[depth] < nest_[depth].trips; ++index_[depth]) loop(depth + 1);
    index_[depth] = 0;
  }

  /// The number, in a mixed radix, that the operand's loops from `begin` to `end` make.
  std::uint64_t number(char operand, std::size_t begin, std::size_t end, const std::vector<std::uint64_t>& index) const {
    std::uint64_t number = 0;
    for (std::size_t i = begin; i < end; ++i)
      if (nest_[i].trips > 0 && relevant(operand, nest_[i].letter)) number = number * nest_[i].trips + index[i];
    return number;
  }

  std::uint64_t size(char operand, std::size_t depth) const {
    std::uint64_t cells = 1;
    for (std::size_t i = depth; i < nest_.size(); ++i)
      if (nest_[i].trips > 0 && relevant(operand, nest_[i].letter)) cells *= nest_[i].trips;
    return cells;
  }

  /// Calls `visit(cell of the inner buffer, cell of the outer buffer)` for every cell of the inner buffer's block, the loops
  /// outside it standing at `index`.
  void for_each_cell(char operand, const NestBuffer& inner, const NestBuffer& outer, std::vector<std::uint64_t> index,
                     const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
    const std::function<void(std::size_t)> go = [&](std::size_t i) {
      if (i == nest_.size()) {
        visit(number(operand, inner.depth, i, index), number(operand, outer.depth, i, index));
      } else if (nest_[i].trips == 0 || !relevant(operand, nest_[i].letter)) {
        go(i + 1);
      } else {
        for (index[i] = 0; index[i] < nest_[i].trips; ++index[i]) go(i + 1);
      }
    };
    go(inner.depth);
  }

  void fill(char operand) {
    std::vector<NestBuffer>& buffers = buffers_[operand];
    for (std::size_t level = 1; level < buffers.size(); ++level) {
      const std::uint64_t block = number(operand, 0, buffers[level].depth, index_);
      if (buffers[level].block == block) continue;
      buffers[level].block = block;
      for_each_cell(operand, buffers[level], buffers[level - 1], index_,
                    [&](std::uint64_t, std::uint64_t outer) { counts_.read(buffers[level - 1].name, outer); });
    }
  }

  void merge(std::size_t level) {
    std::vector<NestBuffer>& buffers = buffers_['C'];
    for_each_cell('C', buffers[level], buffers[level - 1], c_index_, [&](std::uint64_t inner, std::uint64_t outer) {
      counts_.read(buffers[level].name, inner);
      arrive(buffers[level - 1], outer);
    });
    buffers[level].arrived.clear();
  }

  /// A sum reaches a cell; true where it is not the first one, so that the cell is read.
  bool arrive(NestBuffer& buffer, std::uint64_t cell) {
    if (buffer.arrived.empty()) buffer.arrived.resize(size('C', buffer.depth));
    const bool later = buffer.arrived[cell] != 0;
    buffer.arrived[cell] = 1;
    if (later) counts_.read(buffer.name, cell);
    return later;
  }

  void product() {
    fill('A');
    fill('B');
    std::vector<NestBuffer>& c = buffers_['C'];
    for (std::size_t level = c.size() - 1; level > 0; --level) {
      const std::uint64_t block = number('C', 0, c[level].depth, index_);
      if (c[level].block != block && c[level].block != ~0ULL) merge(level);
      c[level].block = block;
    }
    c_index_ = index_;
    for (const char operand : {'A', 'B'}) {
      const NestBuffer& innermost = buffers_[operand].back();
      counts_.read(innermost.name, number(operand, innermost.depth, nest_.size(), index_));
    }
    if (arrive(c.back(), number('C', c.back().depth, nest_.size(), index_))) counts_.read("tmp", 0);
  }

  const std::vector<NestItem>& nest_;
  std::vector<std::uint64_t> index_, c_index_;
  std::map<char, std::vector<NestBuffer>> buffers_;
  ReadCounts counts_;
};

/// The last so many distinct operands, each in a cell of its own.
class Cache {
 public:
  Cache(std::string name, std::size_t cells) : name_(std::move(name)), values_(cells) {}

  void use(ReadCounts& counts, const std::string& array, std::uint64_t cell) {
    if (values_.empty()) return counts.read(array, cell);
    const std::pair<std::string, std::uint64_t> wanted{array, cell};
    auto found = std::find(values_.begin(), values_.end(), wanted);
    if (found == values_.end()) {
      counts.read(array, cell);  // copied into the least recently used cell
      found = values_.begin() + static_cast<std::ptrdiff_t>(oldest());
      *found = wanted;
    }
    const auto at = static_cast<std::size_t>(found - values_.begin());
    order_.remove(at);
    order_.push_back(at);
    counts.read(name_, at);
  }

 private:
  std::size_t oldest() const { return order_.size() < values_.size() ? order_.size() : order_.front(); }

  std::string name_;
  std::vector<std::pair<std::string, std::uint64_t>> values_;
  std::list<std::size_t> order_;
};

}  // namespace

std::vector<Wide> ReadCounts::falling() const {
  std::vector<Wide> counts;
  for (const auto& [cell, reads] : reads_) counts.push_back(reads);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  return counts;
}

Wide ReadCounts::slow_reads(std::uint64_t fast_cells) const {
  const std::vector<Wide> counts = falling();
  Wide reads = 0;
  for (std::size_t cell = fast_cells; cell < counts.size(); ++cell) reads += counts[cell];
  return reads;
}

Wide ReadCounts::steps() const {
  Wide steps = 0;
  Wide address = 0;
  for (const Wide reads : falling()) steps += reads * distance(++address);
  return steps;
}

std::vector<NestItem> parse_nest(std::string_view text) {
  std::vector<NestItem> nest;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '[') {
      for (++i; text[i] != ']'; ++i) nest.push_back({text[i], 0});
      ++i;
    } else if (text[i] == ' ') {
      ++i;
    } else {
      NestItem loop{text[i++], 0};
      for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        loop.trips = loop.trips * 10 + static_cast<std::uint64_t>(text[i] - '0');
      nest.push_back(loop);
    }
  }
  return nest;
}

Gemm gemm_of(const std::vector<NestItem>& nest) {
  Gemm gemm{1, 1, 1};
  for (const NestItem& item : nest) {
    if (item.trips > 0) (item.letter == 'm' ? gemm.m : item.letter == 'k' ? gemm.k : gemm.n) *= item.trips;
  }
  return gemm;
}

ReadCounts walk_nest(const std::vector<NestItem>& nest) { return NestWalk(nest).run(); }

std::vector<NestItem> random_nest(std::mt19937_64& random) {
  std::vector<NestItem> nest;
  for (const char dimension : {'m', 'k', 'n'})
    for (std::uint64_t loops = random() % 3 + 1; loops > 0; --loops)
      nest.push_back({dimension, random() % 3 + 1 + random() % 2});
  std::shuffle(nest.begin(), nest.end(), random);
  for (const char operand : {'A', 'B', 'C'})
    for (std::uint64_t marks = random() % 3; marks > 0; --marks)
      nest.insert(nest.begin() + static_cast<std::ptrdiff_t>(random() % nest.size()), {operand, 0});
  return nest;
}

ReadCounts walk_random_chain(const Epoch& epoch, std::mt19937_64& random) {
  ReadCounts counts;
  const std::vector<std::uint64_t>& widths = epoch.widths();
  Cache elements("element cache", random() % 6);
  Cache weights("weight cache", random() % 6);
  struct Product {
    std::uint64_t row;
    std::size_t layer;
    std::uint64_t from, to;
  };
  std::vector<Product> waiting;
  for (std::uint64_t row = 0; row < epoch.examples(); ++row)
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer)
      for (std::uint64_t from = 0; from < widths[layer]; ++from)
        for (std::uint64_t to = 0; to < widths[layer + 1]; ++to) waiting.push_back({row, layer, from, to});
  if (random() % 2 == 0) {  // layer by layer instead of row by row
    std::stable_sort(waiting.begin(), waiting.end(), [](const Product& a, const Product& b) { return a.layer < b.layer; });
  }
  const std::size_t disorder = random() % 3 == 0 ? waiting.size() : random() % 4 + 1;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> summed;  // products in the element (level, cell)
  while (!waiting.empty()) {
    // One of the first few products whose operand is complete.
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < waiting.size() && ready.size() < disorder; ++i) {
      const Product& p = waiting[i];
      const std::uint64_t cell = p.row * widths[p.layer] + p.from;
      if (p.layer == 0 || summed[{p.layer, cell}] == widths[p.layer - 1]) ready.push_back(i);
    }
    const std::size_t chosen = ready[random() % ready.size()];
    const Product p = waiting[chosen];
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
    elements.use(counts, "level " + std::to_string(p.layer), p.row * widths[p.layer] + p.from);
    weights.use(counts, "weight " + std::to_string(p.layer), p.from * widths[p.layer + 1] + p.to);
    const std::uint64_t cell = p.row * widths[p.layer + 1] + p.to;
    if (summed[{p.layer + 1, cell}]++ > 0) {
      counts.read("tmp", 0);
      counts.read("level " + std::to_string(p.layer + 1), cell);
    }
  }
  for (std::uint64_t cell = 0; cell < epoch.examples() * widths.back(); ++cell)
    counts.read("level " + std::to_string(epoch.layers()), cell);
  return counts;
}

void expect_below(const Floor& floor, const ReadCounts& counts, const std::string& what) {
  EXPECT_LE(floor.steps.count(), counts.steps()) << what;
  for (const FloorLevel& level : floor.levels) {
    const Wide slow = counts.slow_reads(level.last_radius * level.last_radius);
    EXPECT_LE(level.slow_reads.count(), slow) << what << ", radius " << level.last_radius;
    if (level.last_radius == floor.joint.radius && floor.joint.radius > 0) {
      EXPECT_LE(floor.levels[0].slow_reads.count() + level.slow_reads.count() + floor.joint.reads.count(),
                counts.slow_reads(0) + slow)
          << what << ", jointly";
    }
  }
}

}  // namespace joulegrid::testing
