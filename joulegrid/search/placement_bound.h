#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "joulegrid/network/epoch.h"
#include "joulegrid/schedule/sa_cache.h"
#include "joulegrid/search/tile_sizes.h"

namespace joulegrid {

/// For every call group and layer of an epoch (groups outer), which of its candidate tiles are considered: indices.
using TileChoices = std::vector<std::vector<std::uint32_t>>;

/// One tile for every call group and layer, as indices.
using ChosenTiles = std::vector<std::uint32_t>;

/// A lower bound on the price of all epochs whose tiles are picked from given choices, and what each pick adds to it:
/// docs/search.md, "The best tiles of an epoch". All numbers are exact integers; multipliers may be any, they decide only how
/// good the bound is.
class PlacementBound {
 public:
  /// Integers that may be negative: a bound can be.
  using Signed = __int128;

  /// Radii first .. first + count - 1, which are looked at together; `cells` is the sum of their squares.
  struct Level {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t cells = 0;
  };

  /// What a cell within a level costs (`price`), and how the users of each overlay share that (`shares`, by overlay; user
  /// outer, level inner). None is negative.
  struct Multipliers {
    std::vector<Level> levels;
    std::vector<std::int64_t> price;
    std::vector<std::vector<std::int64_t>> shares;
  };

  /// How many cells of each overlay lie within the radii of each level, at least and at most, summed over the radii, in every
  /// optimal packing of some choice of tiles.
  struct Boxes {
    bool empty = false;
    std::vector<std::vector<std::int64_t>> least;
    std::vector<std::vector<std::int64_t>> most;
  };

  struct Value {
    Signed bound = 0;
    std::vector<std::vector<Signed>> costs;  ///< by coordinate and choice; the bound contains the smallest of each
    std::vector<std::size_t> smallest;       ///< where that is
  };

  /// Throws Error(overflow) where the sums of a bound might not fit, Error(bad_input) where there are too many tiles to list.
  PlacementBound(const Epoch& epoch, Candidates candidates);

  /// One per call group and layer, and a last one for what no tile changes.
  std::size_t coordinates() const { return coordinates_.size(); }
  const std::vector<Tile>& tiles(std::size_t coordinate) const { return coordinates_[coordinate].tiles; }
  /// Products of the call group and layer: how much the coordinate matters.
  double weight(std::size_t coordinate) const { return coordinates_[coordinate].weight; }

  TileChoices everything() const;
  ChosenTiles chosen(const EpochTiles& tiles) const;
  EpochTiles tiles_of(const ChosenTiles& chosen) const;

  /// Multipliers with which the bound of the chosen tiles alone is their price.
  Multipliers multipliers_of(const ChosenTiles& chosen) const;

  /// The mean of two, on the levels of the first.
  static Multipliers mean_of(const Multipliers& a, const Multipliers& b);

  Boxes boxes_of(const TileChoices& choices, const std::vector<Level>& levels) const;
  Value evaluate(const TileChoices& choices, const Multipliers& multipliers, const Boxes& boxes) const;

  /// Multipliers a subgradient step towards a bound of `target` away. `value` is that of `multipliers`.
  Multipliers step(const TileChoices& choices, const Multipliers& multipliers, const Boxes& boxes, const Value& value,
                   double distance) const;

 private:
  /// What one tile does with one overlay: buffers that start at the same cell, ascending.
  struct Profile {
    std::size_t buffers = 0;
    std::array<std::int64_t, 4> cells{};
    std::array<std::int64_t, 4> reads{};

    auto operator<=>(const Profile&) const = default;
  };

  /// An overlay as a coordinate uses it.
  struct Slot {
    std::size_t overlay = 0;
    std::size_t user = 0;
    std::vector<Profile> profiles;
    std::vector<std::uint32_t> profile_of;  // by tile
  };

  struct Coordinate {
    std::vector<Tile> tiles;
    std::vector<Slot> slots;
    double weight = 1;
  };

  struct User {
    std::size_t coordinate = 0;
    std::size_t slot = 0;
    double share = 1;  // of the weights of all users
  };

  /// Cells up to `end`, from the end of the run before, are read `reads` times; reads fall.
  struct StepRun {
    std::int64_t end = 0;
    std::int64_t reads = 0;
  };

  struct OverlayRun {
    std::int64_t cells = 0;
    std::int64_t reads = 0;
    std::size_t overlay = 0;
  };

  void add_coordinate(const Epoch& epoch, std::size_t group, std::size_t layer, Candidates candidates);
  void add_rest(const Epoch& epoch);
  void require_room();

  const Profile& profile(const User& user, std::uint32_t tile) const;
  std::vector<StepRun> extreme_reads(std::size_t overlay, const TileChoices& choices, bool most) const;
  std::vector<OverlayRun> packed_runs(const ChosenTiles& chosen) const;
  std::vector<Level> levels_of(const std::vector<OverlayRun>& runs) const;
  static void narrow(const std::vector<Level>& levels, Boxes& boxes);
  static std::int64_t cells_within(const Profile& profile, std::int64_t count, std::int64_t share, std::int64_t least,
                                   std::int64_t most);

  Signed cost(const Profile& profile, const Multipliers& multipliers, const Boxes& boxes, const Slot& slot) const;

  std::vector<Coordinate> coordinates_;
  std::vector<std::vector<User>> users_;  // by overlay
  std::vector<std::int64_t> sizes_;       // the most cells that an overlay can have
  std::size_t layers_ = 0;
  std::int64_t most_price_ = 0;
  std::int64_t radii_ = 0;  // 0 .. radii_ - 1 are those within which not all cells may lie
};

}  // namespace joulegrid
