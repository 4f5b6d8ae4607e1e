#pragma once

#include <cstdint>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// Products up to which the least projections are known exactly: 16³, a cube, so that nothing falls where the exact values
/// end.
inline constexpr std::uint64_t exact_products = 4096;

/// G(P): how many elements of A, B and C together P products of a matrix product touch at least; nondecreasing.
///
/// Products are triples (i, k, j), the touched elements their projections. Exact up to `exact_products`, from there on
/// ceil(3·P^(2/3)), and past 2^60 products at most 2^-38 of it below that. docs/floor.md, Lemma 1.
Wide least_projections(Wide products);

/// The same for width·lines products where no element of one of the three matrices belongs to more than `width` products,
/// so that they touch at least `lines` of its elements; nondecreasing in both. docs/floor.md, Lemma 2.
Wide least_projections(std::uint64_t width, Wide lines);

/// The number of products up to which `least_loads` is tabulated.
inline constexpr std::uint64_t load_products = 1024;

/// Y(P) for P = 0 .. load_products: the least sum over all touched elements of A and B of 1 where one of the P products uses
/// it and of 2 where several do, and over the touched elements of C of 1. docs/floor.md, Lemma 3.
const std::vector<std::uint64_t>& least_loads();

}  // namespace joulegrid
