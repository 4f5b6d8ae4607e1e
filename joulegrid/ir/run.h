#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/ir/program.h"

namespace joulegrid::ir {

/// Why an instance ended before its last instruction.
enum class Fault : std::uint8_t {
  zero_divisor,
  overflow,  ///< a value does not fit a signed 64-bit cell; byte cells wrap instead
};

/// "a zero divisor" or "a result that does not fit 64 bits".
const char* fault_name(Fault fault);

/// One instance that ended early, at its first fault.
struct Failure {
  std::uint64_t instance = 0;     ///< from 0
  std::uint64_t instruction = 0;  ///< from 0
  Fault fault{};

  bool operator==(const Failure&) const = default;
};

struct RunOptions {
  unsigned threads = 1;
  const Stop* stop = nullptr;  ///< asked now and then
};

/// What the instances came to.
template <typename Value>
struct RunResult {
  std::uint64_t instances = 0;    ///< how many were run: all, or the first ones where the run was stopped
  std::vector<Value> outputs;     ///< instance after instance, in the order of the program's outputs; zeros for a failed one
  std::vector<Failure> failures;  ///< by instance
};

/// Runs the program once per instance on byte cells: every input and every written value wraps to a signed byte, comparisons
/// and division are signed, division rounds down, and −128 div −1 and abs −128 wrap to −128.
///
/// `inputs` holds instance after instance, each with the values of the program's inputs in their order. Instances lie side by
/// side in the lanes of vectors, as many vectors as keep the cells within a cache, and blocks of them go to threads; a thread's
/// memory is cells · lanes · size of a value, with at least one vector (64 bytes with AVX-512) per cell.
/// Throws Error(bad_input) for an incomplete program, for inputs that are no whole number of instances, and for a literal
/// outside −128..255; Error(system) where there is not enough memory.
RunResult<std::int8_t> run(const Program& program, std::span<const std::int8_t> inputs, const RunOptions& options = {});

/// The same on exact signed 64-bit cells, where overflow ends the instance.
RunResult<std::int64_t> run(const Program& program, std::span<const std::int64_t> inputs, const RunOptions& options = {});

}  // namespace joulegrid::ir
