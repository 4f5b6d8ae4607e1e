#pragma once

#include "joulegrid/ir/program_sink.h"
#include "joulegrid/network/gemm.h"
#include "joulegrid/schedule/nest.h"
#include "joulegrid/schedule/sa_cache.h"

namespace joulegrid::ir {

/// Passes the program of the `sa_cache` schedule with this tile to `sink`, with everything where pack() puts it: inputs A
/// row-major, then B row-major; outputs C row-major; docs/ir.md. The program's price is pack()'s, to the step.
///
/// Nothing grows with the program. Throws Error(bad_input) where the tile does not fit, Error(overflow) where the addresses
/// pass 64 bits.
void emit_gemm(const Gemm& gemm, Tile tile, ProgramSink& sink);

/// The same for a loop nest (docs/loop-nests.md). Keeps an address for every cell of A, B, C and the buffers.
void emit_gemm(const Gemm& gemm, const Nest& nest, ProgramSink& sink);

}  // namespace joulegrid::ir
