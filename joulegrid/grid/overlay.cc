#include "joulegrid/grid/overlay.h"

#include <map>
#include <utility>

#include "joulegrid/base/error.h"

namespace joulegrid {

const char* role_name(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::weight: return "weight";
    case Role::activation: return "activation";
    case Role::output: return "output";
    case Role::scratch: return "scratch";
  }
  check(false, "unknown role");
  return "";
}

std::vector<Run> runs_of(const std::vector<Buffer>& buffers) {
  std::map<Wide, std::pair<Wide, Wide>> changes;  // by cell: reads that begin with it, and reads that ended just before it
  for (const Buffer& buffer : buffers) {
    if (buffer.cells == 0) continue;
    Wide& begins = changes[buffer.first_cell].first;
    begins = checked_add(begins, buffer.reads_per_cell);
    Wide& ended = changes[buffer.last_cell() + 1].second;
    ended = checked_add(ended, buffer.reads_per_cell);
  }
  std::vector<Run> runs;
  Wide reads = 0;
  Wide done = 1;
  for (const auto& [cell, change] : changes) {
    if (cell > done) runs.push_back({cell - done, reads});
    reads = checked_add(reads, change.first) - change.second;
    done = cell;
  }
  while (!runs.empty() && runs.back().reads_per_cell == 0) runs.pop_back();
  return runs;
}

}  // namespace joulegrid
