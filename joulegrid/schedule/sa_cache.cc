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

std::vector<Overlay> sa_cache_overlays(const Gemm& gemm, Tile tile) {
  const Epoch epoch = Epoch::of(gemm);
  std::vector<Overlay> overlays = sa_cache_overlays(epoch, {{tile}});
  for (Overlay& overlay : overlays) {
    if (overlay.role == Role::input) overlay.name = "A";
    if (overlay.role == Role::weight) overlay.name = "B";
    if (overlay.role == Role::output) overlay.name = "C";
  }
  return overlays;
}

std::vector<Overlay> sa_cache_overlays(const Epoch& epoch, const EpochTiles& tiles) {
  const std::vector<CallGroup>& groups = epoch.call_groups();
  check(tiles.size() == groups.size(), "one list of tiles per call group");
  Overlay sa{"sa", Role::scratch, {}};
  Overlay tmp{"tmp", Role::scratch, {}};
  Overlay sb{"sb", Role::scratch, {}};
  Overlay sc{"sc", Role::scratch, {}};
  std::vector<Overlay> inputs;
  std::vector<Overlay> activations;  // activations[l - 1] is the input of layer l
  std::vector<Overlay> weights;
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    if (layer > 0) activations.push_back({"activation " + to_string(layer), Role::activation, {}});
    weights.push_back({"weight " + to_string(layer), Role::weight, {}});
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
      use(sa, 1, reads.sa);
      use(tmp, 1, reads.tmp);
      for (const Run& run : reads.sb) use(sb, run.cells, run.reads_per_cell);
      for (const Run& run : reads.sc) use(sc, run.cells, run.reads_per_cell);
      if (layer == 0) {
        // Every call has image cells of its own, which are all read equally often.
        inputs.push_back({groups.size() == 1 ? "input" : "input, calls of " + to_string(group.rows), Role::input, {}});
        const Wide cells = checked_mul(checked_mul(group.calls, group.rows), gemm.k);
        inputs.back().buffers.push_back({cells, reads.a, layer});
      } else {
        use(activations[layer - 1], checked_mul(gemm.m, gemm.k), reads.a);
      }
      use(weights[layer], checked_mul(gemm.k, gemm.n), reads.b);
    }
  }
  const std::size_t last = epoch.layers() - 1;
  Overlay output{"output", Role::output, {{checked_mul(epoch.examples(), epoch.widths().back()), 1, last}}};
  std::vector<Overlay> overlays{std::move(sa), std::move(tmp), std::move(sb), std::move(sc)};
  for (auto* part : {&inputs, &activations, &weights}) {
    for (Overlay& overlay : *part) overlays.push_back(std::move(overlay));
  }
  overlays.push_back(std::move(output));
  return overlays;
}

}  // namespace joulegrid
