#include "joulegrid/grid/overlay.h"

#include <algorithm>

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
  std::vector<Buffer> sorted = buffers;
  std::sort(sorted.begin(), sorted.end(), [](const Buffer& a, const Buffer& b) { return a.cells > b.cells; });
  std::vector<Run> runs;  // from the last cell back to the first
  Wide reads = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    reads = checked_add(reads, sorted[i].reads_per_cell);
    const Wide next = i + 1 < sorted.size() ? sorted[i + 1].cells : 0;
    if (sorted[i].cells > next && reads > 0) runs.push_back({sorted[i].cells - next, reads});
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

}  // namespace joulegrid
