#include "joulegrid/schedule/sa_cache.h"

#include "joulegrid/base/error.h"

namespace joulegrid {

SaCacheReads sa_cache_reads(const Gemm& gemm, Tile tile) {
  const std::uint64_t full_rows = gemm.m / tile.i;
  const std::uint64_t full_columns = gemm.n / tile.j;
  const std::uint64_t edge_rows = gemm.m % tile.i;     // rows of a bottom tile
  const std::uint64_t edge_columns = gemm.n % tile.j;  // columns of a right tile
  const Wide row_tiles = full_rows + (edge_rows != 0 ? 1 : 0);
  const Wide column_tiles = full_columns + (edge_columns != 0 ? 1 : 0);
  const Wide mk = checked_mul(gemm.m, gemm.k);
  SaCacheReads reads;
  reads.sa = checked_mul(mk, gemm.n);
  reads.tmp = checked_mul(checked_mul(gemm.m, gemm.n), gemm.k - 1);
  reads.sb = {{{tile.j, checked_mul(mk, full_columns)}, {edge_columns, mk}}};
  if (edge_columns == 0) reads.sb[1] = {};
  const auto tiles_of = [&](std::uint64_t rows, std::uint64_t columns, Wide count) {
    const Wide cells = checked_mul(rows, columns);
    return cells == 0 || count == 0 ? Run{} : Run{cells, checked_mul(gemm.k, count)};
  };
  reads.sc = {tiles_of(tile.i, tile.j, checked_mul(full_rows, full_columns)), tiles_of(tile.i, edge_columns, full_rows),
              tiles_of(edge_rows, tile.j, full_columns), tiles_of(edge_rows, edge_columns, 1)};
  reads.a = column_tiles;
  reads.b = row_tiles;
  return reads;
}

void require_fit(const Gemm& gemm, Tile tile, const std::string& where) {
  const auto require = [&](const char* name, std::uint64_t size, const char* of, std::uint64_t limit) {
    if (size >= 1 && size <= limit) return;
    throw Error(ErrorCode::bad_input,
                std::string(name) + " of " + to_string(size) + " does not lie between 1 and the " + to_string(limit) + " " + of,
                where);
  };
  require("tile_i", tile.i, "rows", gemm.m);
  require("tile_j", tile.j, "columns", gemm.n);
}

EpochOverlays sa_cache_overlays(const Gemm& gemm, Tile tile) {
  EpochOverlays overlays = sa_cache_overlays(Epoch::of(gemm), {{tile}});
  overlays.inputs[0].name = "A";
  overlays.weights[0].name = "B";
  overlays.output.name = "C";
  return overlays;
}

std::vector<Overlay> EpochOverlays::all() const {
  std::vector<Overlay> overlays{sa, tmp, sb, sc};
  for (const auto* part : {&inputs, &activations, &weights}) overlays.insert(overlays.end(), part->begin(), part->end());
  overlays.push_back(output);
  return overlays;
}

EpochOverlays sa_cache_overlays(const Epoch& epoch, const EpochTiles& tiles, const TileIndex* except) {
  const std::vector<CallGroup>& groups = epoch.call_groups();
  check(tiles.size() == groups.size(), "one list of tiles per call group");
  EpochOverlays overlays;
  overlays.sa = {"sa", Role::scratch, {}};
  overlays.tmp = {"tmp", Role::scratch, {}};
  overlays.sb = {"sb", Role::scratch, {}};
  overlays.sc = {"sc", Role::scratch, {}};
  for (const CallGroup& group : groups) {
    overlays.inputs.push_back({groups.size() == 1 ? "input" : "input, calls of " + to_string(group.rows), Role::input, {}});
  }
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    if (layer > 0) overlays.activations.push_back({"activation " + to_string(layer), Role::activation, {}});
    overlays.weights.push_back({"weight " + to_string(layer), Role::weight, {}});
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const CallGroup group = groups[g];
    check(tiles[g].size() == epoch.layers(), "one tile per layer");
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      const Gemm gemm = epoch.gemm(group.rows, layer);
      require_fit(gemm, tiles[g][layer]);
      const SaCacheReads reads = sa_cache_reads(gemm, tiles[g][layer]);
      const auto use = [&](Overlay& overlay, Wide cells, Wide reads_per_cell) {
        if (cells > 0) overlay.buffers.push_back({cells, checked_mul(group.calls, reads_per_cell), layer});
      };
      use(overlays.sa, 1, reads.sa);
      use(overlays.tmp, 1, reads.tmp);
      if (except != nullptr && except->group == g && except->layer == layer) continue;
      for (const Run& run : reads.sb) use(overlays.sb, run.cells, run.reads_per_cell);
      for (const Run& run : reads.sc) use(overlays.sc, run.cells, run.reads_per_cell);
      if (layer == 0) {
        // Every call reads image cells of its own.
        const Wide cells = checked_mul(checked_mul(group.calls, gemm.m), gemm.k);
        overlays.inputs[g].buffers.push_back({cells, reads.a, layer});
      } else {
        use(overlays.activations[layer - 1], checked_mul(gemm.m, gemm.k), reads.a);
      }
      use(overlays.weights[layer], checked_mul(gemm.k, gemm.n), reads.b);
    }
  }
  const Wide outputs = checked_mul(epoch.examples(), epoch.widths().back());
  overlays.output = {"output", Role::output, {{outputs, 1, epoch.layers() - 1}}};
  return overlays;
}

}  // namespace joulegrid
