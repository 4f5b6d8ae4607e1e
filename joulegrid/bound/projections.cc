#include "joulegrid/bound/projections.h"

#include <algorithm>
#include <limits>

#include "joulegrid/base/error.h"
#include "joulegrid/bound/roots.h"
#include "joulegrid/grid/distance.h"

namespace joulegrid {

namespace {

using Table = std::vector<std::uint64_t>;

/// Rows and columns together that p cells of a plane touch at least: ceil(2·sqrt(p)).
std::uint64_t least_rows_and_columns(std::uint64_t p) { return static_cast<std::uint64_t>(isqrt_up(4 * static_cast<Wide>(p))); }

/// The same with a row or column of several cells counted twice; docs/floor.md, Lemma 3.
std::uint64_t least_weighted_rows_and_columns(std::uint64_t p) {
  if (p < 2) return 2 * p;
  std::uint64_t least = p + 2;
  for (std::uint64_t alone = 0; alone < p; ++alone) least = std::min(least, alone + 2 * least_rows_and_columns(p - alone));
  return least;
}

/// For every P up to `products`: the least sum of the largest slice and of slice_cost over all slices, over all ways to write
/// P as a sum of slices. `largest` is a slice size above which no slice can pay.
template <typename SliceCost>
Table least_over_slices(std::uint64_t products, std::uint64_t largest, const SliceCost& slice_cost) {
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max() / 4;
  Table least(products + 1, none);
  Table of_slices(products + 1, none);  // the least sum of slice costs with no slice above `slice`
  least[0] = of_slices[0] = 0;
  for (std::uint64_t slice = 1; slice <= std::min(products, largest); ++slice) {
    const std::uint64_t cost = slice_cost(slice);
    for (std::uint64_t p = slice; p <= products; ++p) {
      of_slices[p] = std::min(of_slices[p], of_slices[p - slice] + cost);
      least[p] = std::min(least[p], slice + of_slices[p]);
    }
  }
  return least;
}

const Table& exact_projections() {
  // As a cube 16³ products touch 3·16² = 768 elements, and fewer touch no more: a larger slice alone would cost more.
  static const Table table = least_over_slices(exact_products, 768, least_rows_and_columns);
  return table;
}

}  // namespace

Wide least_projections(Wide products) {
  if (products <= exact_products) return exact_projections()[static_cast<std::size_t>(products)];
  constexpr int fits = 60;  // bits of P with which 27·P² fits
  int octants = 0;
  while ((products >> fits) != 0) {
    products >>= 3;  // 3·(8P)^(2/3) = 4·3·P^(2/3)
    ++octants;
  }
  const Wide cube = 27 * products * products;
  return octants == 0 ? icbrt_up(cube) : icbrt(cube) << (2 * octants);
}

Wide least_projections(std::uint64_t width, Wide lines) {
  constexpr int precision = 8;  // bits behind the point of the square root
  constexpr Wide one = 1;
  check((lines >> 100) == 0, "lines are a product of two sizes");
  const Wide narrow = std::min<Wide>(width, isqrt(lines));
  const Wide root = isqrt(lines << (2 * precision + 2));  // floor of 2·sqrt(lines), scaled
  const Wide others = (narrow * root + (one << precision) - 1) >> precision;
  return std::max(least_projections(checked_mul(width, lines)), lines + others);
}

const Table& least_loads() {
  // Any cut of 1024 products into slices of 64 costs 64 + 16·32; a larger slice would have to cost less.
  static const Table table =
      least_over_slices(load_products, 64 + 16 * least_weighted_rows_and_columns(64), least_weighted_rows_and_columns);
  return table;
}

}  // namespace joulegrid
