#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "joulegrid/grid/overlay.h"
#include "joulegrid/grid/packing.h"
#include "joulegrid/network/epoch.h"

namespace joulegrid {

/// A tile of C in the `sa_cache` family: tile_i rows by tile_j columns. It need not divide C; the last row and column of
/// tiles are then smaller.
struct Tile {
  std::uint64_t i = 1;
  std::uint64_t j = 1;

  auto operator<=>(const Tile&) const = default;
};

/// What one GEMM reads in the `sa_cache` family, by buffer; the unit of all counts is reads per cell.
///
/// For each C tile and each k: the B sliver is copied to `sb`; for each row of the tile one element of A is copied to the
/// one cell `sa`; for each column `sa·sb[j]` goes to `sc` (the first product of an output) or through the one cell `tmp`
/// (every later one, which is then added). A finished tile is copied from `sc` to C. Edge tiles lie compactly in the first
/// cells of the same buffers. docs/movement-model.md has the derivation.
struct SaCacheReads {
  Wide sa = 0;
  Wide tmp = 0;
  std::array<Run, 2> sb;  ///< the full column tiles, and the last narrower one; zero cells where there is none
  std::array<Run, 4> sc;  ///< full, right edge, bottom edge and corner tiles; zero cells where there are none
  Wide a = 0;
  Wide b = 0;
};

/// Throws Error(overflow). The tile must lie within the GEMM.
SaCacheReads sa_cache_reads(const Gemm& gemm, Tile tile);

/// The tiles of an epoch: one per call group and layer, in the epoch's order.
using EpochTiles = std::vector<std::vector<Tile>>;

/// Throws Error(bad_input, where = `where`) where the tile is larger than the GEMM or zero.
void require_fit(const Gemm& gemm, Tile tile, const std::string& where = {});

/// One tile of an epoch's schedule: that of a call group and a layer, as indices.
struct TileIndex {
  std::size_t group = 0;
  std::size_t layer = 0;
};

/// An epoch's buffers in one address space: scratch shared by all layers and calls, a source image per call group, one
/// activation buffer per hidden width, weights and outputs; docs/movement-model.md, "An inference epoch".
struct EpochOverlays {
  Overlay sa, tmp, sb, sc;
  std::vector<Overlay> inputs;       ///< by call group
  std::vector<Overlay> activations;  ///< activations[l - 1] is the input of layer l
  std::vector<Overlay> weights;      ///< by layer
  Overlay output;

  /// All of them, in this order.
  std::vector<Overlay> all() const;
};

/// Throws Error(bad_input) where a tile does not fit. With `except`, the tile named there contributes nothing but its reads
/// of sa and tmp, which do not depend on its size.
EpochOverlays sa_cache_overlays(const Epoch& epoch, const EpochTiles& tiles, const TileIndex* except = nullptr);

/// One GEMM's buffers: sa, tmp, sb, sc, A, B, C.
EpochOverlays sa_cache_overlays(const Gemm& gemm, Tile tile);

}  // namespace joulegrid
