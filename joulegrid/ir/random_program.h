#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "joulegrid/ir/program.h"

namespace joulegrid::ir {

/// For tests: a random valid program over all operations up to `set`, short forms and repeated outputs included, on
/// addresses of every magnitude. Literals stay within bytes.
inline Program random_program(std::mt19937_64& random, std::size_t instructions, InstructionSet set = InstructionSet::v3) {
  std::vector<std::uint64_t> written;
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto any_written = [&] { return written[below(written.size())]; };
  const auto any_address = [&] { return below(4) != 0 && !written.empty() ? any_written() : (random() >> below(64)) | 1; };
  Program program;
  for (std::uint64_t i = below(6) + 1; i > 0; --i) {
    const std::uint64_t address = (random() >> below(64)) | 1;
    if (std::find(written.begin(), written.end(), address) != written.end()) continue;
    program.input(address);
    written.push_back(address);
  }
  while (instructions > 0) {
    const auto op = static_cast<Op>(below(op_count));
    if (instruction_set_of(op) > set) continue;
    const bool short_form = has_short_form(op) && below(3) == 0;
    Instruction next{op, Predicate::eq, short_form, short_form ? any_written() : any_address(), {}, 0};
    for (unsigned i = 0; i < reads_of(op); ++i) next.sources[i] = any_written();
    if (short_form) next.sources[0] = next.dest;
    if (op == Op::set) next.literal = static_cast<std::int64_t>(below(384)) - 128;
    if (op == Op::cmp) next.predicate = static_cast<Predicate>(below(predicate_count));
    program.instruction(next);
    if (std::find(written.begin(), written.end(), next.dest) == written.end()) written.push_back(next.dest);
    --instructions;
  }
  for (std::uint64_t i = below(6) + 1; i > 0; --i) program.output(any_written());
  return program;
}

}  // namespace joulegrid::ir
