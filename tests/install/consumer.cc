// A program that uses the installed library: it prices the published tile and writes the published report.
#include <cstdio>

#include "joulegrid/grid/packing.h"
#include "joulegrid/report/movement_report.h"
#include "joulegrid/schedule/sa_cache.h"
#include "joulegrid/search/sa_cache_search.h"

int main() {
  const joulegrid::Gemm gemm{8192, 8192, 8192};
  const joulegrid::Tile tile = joulegrid::search_gemm_tile(gemm).tile;
  const joulegrid::Packing packing = joulegrid::pack(joulegrid::sa_cache_overlays(gemm, tile).all());
  const std::string report = joulegrid::movement_document(joulegrid::movement_report({}));
  std::printf("%s steps, a report of %zu bytes\n", joulegrid::to_string(packing.steps.count()).c_str(), report.size());
  return packing.steps.count() == 118953083721334 && report.size() > 10000 ? 0 : 1;
}
