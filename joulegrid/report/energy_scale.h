#pragma once

#include "joulegrid/base/quantity.h"

namespace joulegrid {

/// What a grid step costs, and what it would be worth in millimetres of wire: the one place where steps become joules.
struct EnergyScale {
  static constexpr double default_joules_per_step = 1e-15;

  /// What a sensible scale lies between; all results are then finite and no energy vanishes.
  static constexpr double least_joules_per_step = 1e-30;
  static constexpr double most_joules_per_step = 1;

  double joules_per_step = default_joules_per_step;  ///< per operand read and grid step

  /// INT8 operands and the energies of W. J. Dally, keynote on energy-efficient AI hardware, AHA retreat 2023.
  static constexpr double operand_bits = 8;
  static constexpr double wire_fJ_per_bit_mm = 100;
  static constexpr double small_ram_fJ_per_bit = 50;

  /// The energy of the steps. With the default scale the correctly rounded quotient steps / 10^15, otherwise the product.
  Joules joules(GridSteps steps) const {
    if (joules_per_step == default_joules_per_step) return Joules(rounded_quotient(steps.count(), 1'000'000'000'000'000));
    return Joules(static_cast<double>(steps.count()) * joules_per_step);
  }

  /// The same with every charged read an access to a small RAM besides: steps · J per step + reads · bits · fJ per bit.
  Joules joules_with_small_ram(GridSteps steps, Reads reads) const {
    constexpr double joules_per_read = operand_bits * small_ram_fJ_per_bit * 1e-15;
    static_assert(joules_per_read == 400e-15);
    return Joules(static_cast<double>(steps.count()) * joules_per_step + static_cast<double>(reads.count()) * joules_per_read);
  }

  /// How long a step would be as a wire that costs the same, in micrometres.
  double micrometres_per_step() const {
    constexpr double wire_joules_per_mm = operand_bits * wire_fJ_per_bit_mm * 1e-15;
    return joules_per_step / wire_joules_per_mm * 1e3;
  }
};

}  // namespace joulegrid
