#include "joulegrid/network/epoch.h"

#include <algorithm>
#include <utility>

#include "joulegrid/base/error.h"

namespace joulegrid {

Epoch::Epoch(std::vector<std::uint64_t> widths, std::uint64_t examples, std::uint64_t batch)
    : widths_(std::move(widths)), examples_(examples), batch_(batch) {
  if (widths_.size() < 2)
    throw Error(ErrorCode::bad_input, "a network needs at least two widths, its input's and its output's");
  const auto bad = [](std::uint64_t size) { return size < 1 || size > max_size; };
  if (bad(examples_) || bad(batch_) || std::any_of(widths_.begin(), widths_.end(), bad)) {
    throw Error(ErrorCode::bad_input, "widths, examples and batch must lie between 1 and " + to_string(max_size));
  }
  if (batch_ > examples_) {
    throw Error(ErrorCode::bad_input,
                "the batch of " + to_string(batch_) + " is larger than the epoch of " + to_string(examples_) + " examples");
  }
  call_groups_.push_back({batch_, examples_ / batch_});
  if (examples_ % batch_ != 0) call_groups_.push_back({examples_ % batch_, 1});
}

std::uint64_t Epoch::calls() const {
  std::uint64_t calls = 0;
  for (const CallGroup& group : call_groups_) calls += group.calls;
  return calls;
}

Wide Epoch::macs_per_example() const {
  Wide macs = 0;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    macs = checked_add(macs, checked_mul(widths_[layer], widths_[layer + 1]));
  }
  return macs;
}

}  // namespace joulegrid
