#pragma once

#include "joulegrid/ir/program_sink.h"
#include "joulegrid/network/gemm.h"
#include "joulegrid/schedule/nest.h"
#include "joulegrid/schedule/sa_cache.h"
#include "joulegrid/schedule/schedule.h"

namespace joulegrid::ir {

/// Passes the program of the `sa_cache` schedule with this tile to `sink`, with everything where pack() puts it: inputs A
/// row-major, then B row-major; outputs C row-major; docs/ir.md. The program's price is pack()'s, to the step.
///
/// Nothing grows with the program. Throws Error(bad_input) where the tile does not fit, Error(overflow) where the addresses
/// pass 64 bits.
void emit_gemm(const Gemm& gemm, Tile tile, ProgramSink& sink);

/// The same for a loop nest, with the addresses of its NestLayout. Takes memory for every cell, none for the instructions.
void emit_gemm(const Gemm& gemm, const Nest& nest, ProgramSink& sink);

/// The same for a schedule of one GEMM: one tile or one nest.
void emit_gemm(const Gemm& gemm, const Schedule& schedule, ProgramSink& sink);

}  // namespace joulegrid::ir
