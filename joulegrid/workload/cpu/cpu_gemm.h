#pragma once

#include <memory>
#include <string>
#include <vector>

#include "joulegrid/measure/stage.h"
#include "joulegrid/workload/gemm_values.h"

namespace joulegrid {

/// A stage whose repetition is one matrix product on so many of the processor's cores. Operands are there and packed.
class CpuGemm : public Stage {
 public:
  /// One JSON object for the stage in documents: `semantics`, and `kernel`, what the work is done by.
  virtual std::string facts() const = 0;
  /// One JSON object for the section: versions and instruction sets of what does the work.
  virtual std::string environment() const = 0;
  /// A value of the last repetition's product.
  virtual double output(std::uint64_t row, std::uint64_t column) const = 0;
};

/// "strict_fp32", "bf16", "int8", "b1_and_popcount".
const std::vector<std::string>& cpu_gemm_names();

/// One stage of each name, with the values' operands. Throws Error(bad_input) for another name or a K whose sums do not fit 32
/// bits, Error(unavailable) where memory does not suffice for all of them, or a library is missing.
std::vector<std::unique_ptr<CpuGemm>> make_cpu_gemms(const std::vector<std::string>& names, const GemmShape& shape,
                                                     const GemmValues& values, unsigned threads);

}  // namespace joulegrid
