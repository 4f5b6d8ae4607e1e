#pragma once

#include <string>

#include "joulegrid/base/file.h"
#include "joulegrid/ir/op.h"
#include "joulegrid/ir/program_sink.h"
#include "joulegrid/ir/source_lines.h"

namespace joulegrid::ir {

struct ReadOptions {
  InstructionSet instructions = InstructionSet::v3;  ///< an operation outside this set is an error
  bool byte_literals = false;                        ///< a literal outside -128..255, for byte cells, is an error
  SourceLines* lines = nullptr;                      ///< where to note the instructions' lines, if anywhere
};

/// Reads a program's text (docs/ir.md) and passes it on piece by piece as it comes, a valid program or an error: what has
/// passed before an error is no program. The text is never held; memory grows with the number of distinct cells only.
/// Throws Error(bad_input, where = "name:line").
void read_program(ByteSource& source, const std::string& name, ProgramSink& sink, const ReadOptions& options = {});

}  // namespace joulegrid::ir
