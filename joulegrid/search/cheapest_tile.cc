#include "joulegrid/search/cheapest_tile.h"

#include <utility>
#include <vector>

namespace joulegrid {

namespace {

/// Indices into the row sizes and the column sizes, last ones included, and a bound on what lies inside.
struct Rectangle {
  std::size_t row_first, row_last;
  std::size_t column_first, column_last;
  Wide bound = 0;

  bool single() const { return row_first == row_last && column_first == column_last; }

  std::pair<Rectangle, Rectangle> halves(bool cut_rows) const {
    Rectangle low = *this;
    Rectangle high = *this;
    if (cut_rows) {
      low.row_last = row_first + (row_last - row_first) / 2;
      high.row_first = low.row_last + 1;
    } else {
      low.column_last = column_first + (column_last - column_first) / 2;
      high.column_first = low.column_last + 1;
    }
    return {low, high};
  }
};

}  // namespace

PricedTile cheapest_tile(TilePricer& pricer, const TileSizes& rows, const TileSizes& columns,
                         std::optional<PricedTile> incumbent, std::uint64_t& evaluations, const Stop* stop) {
  PricedTile best;
  bool best_is_candidate = false;
  const auto take = [&](Tile tile) {
    const Wide steps = price_or_unpriceable([&] { return pricer.steps(tile); });
    ++evaluations;
    if (steps < best.steps || (best_is_candidate && steps == best.steps && tile < best.tile)) {
      best = {tile, steps};
      best_is_candidate = true;
    }
  };
  if (incumbent) {
    best = *incumbent;
  } else {
    best = {{rows[0], columns[0]}, unpriceable};
    best_is_candidate = true;
    take(best.tile);
  }
  const auto first_tile = [&](const Rectangle& r) { return Tile{rows[r.row_first], columns[r.column_first]}; };
  const auto last_tile = [&](const Rectangle& r) { return Tile{rows[r.row_last], columns[r.column_last]}; };
  const auto hopeless = [&](const Rectangle& r) {
    if (r.bound != best.steps) return r.bound > best.steps;
    return !best_is_candidate || best.tile <= first_tile(r);
  };
  const auto with_bound = [&](Rectangle r) {
    ++evaluations;
    r.bound = price_or_unpriceable([&] { return pricer.lower_bound({first_tile(r), last_tile(r)}); });
    return r;
  };

  std::vector<Rectangle> open;  // a stack: the more promising half of a rectangle is looked at first
  const auto push = [&](const Rectangle& r) {
    if (!hopeless(r)) open.push_back(r);
  };
  push({0, rows.count() - 1, 0, columns.count() - 1});
  while (!open.empty()) {
    if (stop != nullptr && stop->requested()) break;
    const Rectangle rectangle = open.back();
    open.pop_back();
    if (hopeless(rectangle)) continue;
    if (rectangle.single()) {
      take(first_tile(rectangle));
      continue;
    }
    // The side that spans the larger ratio of sizes is the one that makes the bound loose.
    const Tile first = first_tile(rectangle);
    const Tile last = last_tile(rectangle);
    const bool cut_rows = checked_mul(last.i, first.j) >= checked_mul(last.j, first.i);
    auto [low, high] = rectangle.halves(cut_rows);
    low = with_bound(low);
    high = with_bound(high);
    if (low.bound <= high.bound) std::swap(low, high);
    push(low);
    push(high);
  }
  return best;
}

}  // namespace joulegrid
