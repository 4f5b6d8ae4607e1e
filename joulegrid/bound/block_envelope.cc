#include "joulegrid/bound/block_envelope.h"

#include <algorithm>
#include <utility>

namespace joulegrid {

namespace {

/// a.elements − a.blocks·S > b.elements − b.blocks·S, as integers of any sign, without overflow.
bool better(const Cut& a, const Cut& b, Wide fast_cells) {
  if (a.blocks < b.blocks) {
    Wide saved = 0;  // what b pays more for its blocks
    return a.elements >= b.elements || __builtin_mul_overflow(b.blocks - a.blocks, fast_cells, &saved) ||
           saved > b.elements - a.elements;
  }
  Wide paid = 0;
  return a.elements > b.elements && !__builtin_mul_overflow(a.blocks - b.blocks, fast_cells, &paid) &&
         a.elements - b.elements > paid;
}

}  // namespace

Wide Cut::slow_reads(Wide fast_cells) const {
  Wide held = 0;
  if (__builtin_mul_overflow(blocks, fast_cells, &held) || held >= elements) return 0;
  return elements - held;
}

BlockEnvelope::BlockEnvelope(std::vector<Wide> fast_cells)
    : fast_cells_(std::move(fast_cells)), tree_(4 * std::max<std::size_t>(1, fast_cells_.size())) {}

void BlockEnvelope::add(const Cut& cut) {
  Cut added = cut;
  std::size_t node = 1;
  std::size_t begin = 0;
  std::size_t end = fast_cells_.size();
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (better(added, tree_[node], fast_cells_[middle])) std::swap(added, tree_[node]);
    // What lost at the middle can only win where the fewer blocks count more, or less.
    if (added.blocks < tree_[node].blocks) {
      begin = middle + 1;
      node = 2 * node + 1;
    } else {
      end = middle;
      node = 2 * node;
    }
  }
}

Wide BlockEnvelope::slow_reads(std::size_t index) const {
  Wide most = 0;
  std::size_t node = 1;
  std::size_t begin = 0;
  std::size_t end = fast_cells_.size();
  while (begin < end) {
    most = std::max(most, tree_[node].slow_reads(fast_cells_[index]));
    const std::size_t middle = begin + (end - begin) / 2;
    if (index == middle) break;
    if (index > middle) {
      begin = middle + 1;
      node = 2 * node + 1;
    } else {
      end = middle;
      node = 2 * node;
    }
  }
  return most;
}

}  // namespace joulegrid
