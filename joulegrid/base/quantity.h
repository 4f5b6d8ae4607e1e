#pragma once

#include <compare>
#include <type_traits>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// A number with a unit in its type. Only quantities of the same unit add and compare. With an integer representation
/// every operation is exact and throws Error(overflow) where the result does not fit.
template <typename Tag, typename Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep count) : count_(count) {}

  /// The plain number, in this quantity's unit.
  constexpr Rep count() const { return count_; }

  friend Quantity operator+(Quantity a, Quantity b) {
    if constexpr (std::is_floating_point_v<Rep>) {
      return Quantity(a.count_ + b.count_);
    } else {
      return Quantity(checked_add(a.count_, b.count_));
    }
  }
  Quantity& operator+=(Quantity other) { return *this = *this + other; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Rep count_{};
};

/// Steps on the address grid, summed over charged reads: the model's price.
using GridSteps = Quantity<struct GridStepsTag, Wide>;

/// Charged reads: operand reads, and the exit read of every output.
using Reads = Quantity<struct ReadsTag, Wide>;

/// Energy as a counter counts it: exact, in millionths of a joule.
using Microjoules = Quantity<struct MicrojoulesTag, Wide>;

/// Energy in joules.
using Joules = Quantity<struct JoulesTag, double>;

}  // namespace joulegrid
