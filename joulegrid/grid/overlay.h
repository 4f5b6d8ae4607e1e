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

/// One user of an overlay: `cells` cells from the overlay's first one on, each read `reads_per_cell` times by `layer`.
struct Buffer {
  Wide cells = 0;
  Wide reads_per_cell = 0;
  std::size_t layer = 0;
};

/// Buffers that all start at the same cell, because they are never alive at the same time (or are the same data). Cell x
/// is read as often as all buffers of at least x cells together say, so reads never increase along the overlay.
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

/// The runs of equally read cells of an overlay, from its first cell on: the cells between two successive distinct buffer
/// sizes form one run. Cells that nobody reads are left out. Throws Error(overflow).
std::vector<Run> runs_of(const std::vector<Buffer>& buffers);

}  // namespace joulegrid
