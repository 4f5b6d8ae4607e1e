#pragma once

#include <cstdint>
#include <vector>

namespace joulegrid::testing {

/// A tiny problem as sums of products. Values are numbered: the inputs first; then, for every element in order and every
/// non-empty set of its products (as bits, minus one), the sum of that set.
struct SumsOfProducts {
  struct Product {
    std::uint32_t left, right;  ///< values
  };
  struct Element {
    std::vector<Product> products;
    bool output = true;
    std::uint32_t first_value = 0;  ///< the sum of the first product alone

    std::uint32_t whole() const { return first_value + (1U << products.size()) - 2; }
  };

  std::uint32_t inputs = 0;
  std::vector<Element> elements;
};

SumsOfProducts matrix_product(unsigned m, unsigned k, unsigned n);

/// `rows` rows through layers of these widths.
SumsOfProducts layer_chain(unsigned rows, const std::vector<unsigned>& widths);

/// The fewest reads outside S fast cells of any program, by trying all of them, plus `extra_weight` times its reads beyond
/// those of Proposition 1 (copies, and sums formed again).
///
/// What the search keeps of a program is which values stand in fast cells and which have been computed. It is generous: a
/// computed value can always be read outside, as writing is free, and the inputs that lie in fast cells at the start are free
/// to choose. So no program is left out. Whole sums that are no outputs are formed once.
unsigned least_slow_reads(const SumsOfProducts& problem, unsigned fast_cells, unsigned extra_weight = 0);

}  // namespace joulegrid::testing
