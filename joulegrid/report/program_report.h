#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "joulegrid/ir/run.h"
#include "joulegrid/report/text.h"

namespace joulegrid {

/// One instance that ended early, told with its instruction.
struct ProgramFailure {
  std::uint64_t instance = 0;  ///< from 0
  std::uint64_t line = 0;      ///< of the instruction, from 1
  std::string instruction;     ///< in the canonical form
  ir::Fault fault{};
};

/// "p.ir:7: div 5,6,7: a zero divisor in instance 3".
std::string failure_text(const ProgramFailure& failure, const std::string& program_name);

/// What running a program came to.
struct ProgramRun {
  std::uint64_t instances = 0;
  std::vector<std::int64_t> outputs;     ///< instance after instance
  std::vector<ProgramFailure> failures;  ///< all of them, or the first ones
  std::uint64_t failed = 0;              ///< instances that ended early
};

/// The JSON document of `ir price`, docs/formats.md.
std::string program_document(const ir::Price& price);

/// The JSON document of `ir run`: the outputs of every instance (null for a failed one), the failures and the price.
std::string program_document(const ir::Price& price, const ProgramRun& run);

/// The price as tables.
std::string program_text(const ir::Price& price, const TextStyle& style);

}  // namespace joulegrid
