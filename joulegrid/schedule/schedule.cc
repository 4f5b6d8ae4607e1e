#include "joulegrid/schedule/schedule.h"

namespace joulegrid {

const char* family_name(const Schedule& schedule) { return std::holds_alternative<EpochTiles>(schedule) ? "sa_cache" : "nest"; }

std::vector<Overlay> overlays_of(const Problem& problem, const Schedule& schedule) {
  const auto* gemm = std::get_if<Gemm>(&problem);
  if (const auto* nests = std::get_if<EpochNests>(&schedule)) {
    return gemm != nullptr ? nest_overlays(*gemm, nests->at(0).at(0)) : nest_overlays(std::get<Epoch>(problem), *nests);
  }
  const auto& tiles = std::get<EpochTiles>(schedule);
  return (gemm != nullptr ? sa_cache_overlays(*gemm, tiles.at(0).at(0)) : sa_cache_overlays(std::get<Epoch>(problem), tiles))
      .all();
}

}  // namespace joulegrid
