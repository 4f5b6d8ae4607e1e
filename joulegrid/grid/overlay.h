#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// What a piece of memory holds.
enum class Role { input, weight, activation, output, scratch };

/// "input", "weight", "activation", "output" or "scratch".
const char* role_name(Role role);

/// One user of an overlay: `cells` successive cells, each read `reads_per_cell` times by `layer`. Most start at the overlay's
/// first cell; one whose cells are read unequally is given as several, each starting where the one before ends.
struct Buffer {
  Wide cells = 0;
  Wide reads_per_cell = 0;
  std::size_t layer = 0;
  Wide first_cell = 1;

  Wide last_cell() const { return checked_add(first_cell, cells) - 1; }
  bool covers(Wide cell) const { return first_cell <= cell && cell <= last_cell(); }
};

/// Buffers that share cells, because they are never alive at the same time (or are the same data). A cell is read as often as
/// all buffers that cover it together say.
struct Overlay {
  std::string name;
  Role role = Role::scratch;
  std::vector<Buffer> buffers;
};

/// So many cells, each read so many times.
struct Run {
  Wide cells = 0;
  Wide reads_per_cell = 0;
};

/// The runs of an overlay's cells, from its first one to the last that is read: no buffer begins or ends within a run. Throws
/// Error(overflow).
std::vector<Run> runs_of(const std::vector<Buffer>& buffers);

}  // namespace joulegrid
