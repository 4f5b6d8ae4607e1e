#pragma once

#include <array>
#include <vector>

#include "joulegrid/grid/overlay.h"
#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid {

/// All tiles with first.i <= i <= last.i and first.j <= j <= last.j.
struct TileRange {
  Tile first;
  Tile last;
};

/// Prices an epoch in which all tiles but one are fixed: that of one call group and layer. What the fixed tiles read is
/// sorted once; pricing a candidate only merges its own few buffers into it, without allocating.
///
/// The prices are exactly pack(sa_cache_overlays(epoch, tiles)).steps.
class TilePricer {
 public:
  /// `free` is the tile that changes; what `tiles` says of it does not matter, as long as it fits.
  TilePricer(const Epoch& epoch, const EpochTiles& tiles, TileIndex free);

  const Gemm& gemm() const { return gemm_; }

  /// The epoch's steps with this tile. Throws Error(overflow).
  Wide steps(Tile tile);

  /// A number that no tile of the range costs less than; docs/search.md, "The bound of a rectangle".
  Wide lower_bound(const TileRange& range);

 private:
  struct ProfileRun {
    Wide last_cell;
    Wide reads_per_cell;
  };
  using Profile = std::vector<ProfileRun>;  // by cell; reads fall

  static Profile profile_of(const std::vector<Buffer>& buffers);

  /// Lays the buffers over the profile and writes the runs that result; returns their end. Sorts the buffers.
  Run* stack(const Profile& rest, Run* buffers, Run* buffers_end, Run* out) const;

  Wide price(SaCacheReads reads);

  Gemm gemm_;
  Wide calls_;
  Run input_;                      // cells, and what the reads of one call are multiplied by
  Run weight_;                     // likewise
  std::vector<Run> fixed_;         // by reads per cell, falling
  std::array<Profile, 4> shared_;  // sb, sc, input, weight: what the other tiles do with them
  std::vector<Run> moving_;        // scratch space of price()
};

}  // namespace joulegrid
