#include "joulegrid/ir/gemm_program.h"

#include <algorithm>

#include "joulegrid/base/error.h"
#include "joulegrid/grid/cell_addresses.h"
#include "joulegrid/schedule/nest_layout.h"
#include "joulegrid/schedule/nest_program.h"

namespace joulegrid::ir {

namespace {

/// Where the buffers of one GEMM lie.
class Layout {
 public:
  explicit Layout(const Packing& packing)
      : sa(packing, 0), tmp(packing, 1), sb(packing, 2), sc(packing, 3), a(packing, 4), b(packing, 5), c(packing, 6) {}

  CellAddresses sa, tmp, sb, sc, a, b, c;  // in the order of EpochOverlays::all() for one layer
};

/// Rows [i, i + rows) and columns [j, j + columns) of C.
struct Part {
  std::uint64_t i, j, rows, columns;
};

class Emitter {
 public:
  Emitter(const Gemm& gemm, const Packing& packing, ProgramSink& sink) : gemm_(gemm), at_(packing), sink_(sink) {}

  void inputs() {
    for (std::uint64_t cell = 0; cell < gemm_.m * gemm_.k; ++cell) sink_.input(at_.a[cell]);
    for (std::uint64_t cell = 0; cell < gemm_.k * gemm_.n; ++cell) sink_.input(at_.b[cell]);
  }

  void outputs() {
    for (std::uint64_t cell = 0; cell < gemm_.m * gemm_.n; ++cell) sink_.output(at_.c[cell]);
  }

  /// One tile of C: its products, summed in `sc`, then copied out.
  void tile(const Part& part) {
    for (std::uint64_t k = 0; k < gemm_.k; ++k) {
      for (std::uint64_t j = 0; j < part.columns; ++j) {
        copy(at_.sb[j], at_.b[k * gemm_.n + part.j + j]);
      }
      for (std::uint64_t i = 0; i < part.rows; ++i) {
        copy(at_.sa[0], at_.a[(part.i + i) * gemm_.k + k]);
        for (std::uint64_t j = 0; j < part.columns; ++j) multiply(k == 0, at_.sc[i * part.columns + j], at_.sb[j]);
      }
    }
    for (std::uint64_t i = 0; i < part.rows; ++i) {
      for (std::uint64_t j = 0; j < part.columns; ++j) {
        copy(at_.c[(part.i + i) * gemm_.n + part.j + j], at_.sc[i * part.columns + j]);
      }
    }
  }

 private:
  void copy(std::uint64_t to, std::uint64_t from) { sink_.instruction(instruct(Op::copy, to, from)); }

  /// sa times `factor` goes to `sum` as its first product, or is added to it.
  void multiply(bool first, std::uint64_t sum, std::uint64_t factor) {
    if (first) return sink_.instruction(instruct(Op::mul, sum, at_.sa[0], factor));
    sink_.instruction(instruct(Op::mul, at_.tmp[0], at_.sa[0], factor));
    sink_.instruction(accumulate(Op::add, sum, at_.tmp[0]));
  }

  Gemm gemm_;
  Layout at_;
  ProgramSink& sink_;
};

}  // namespace

void emit_gemm(const Gemm& gemm, Tile tile, ProgramSink& sink) {
  const Packing packing = pack(sa_cache_overlays(gemm, tile).all());
  Emitter emitter(gemm, packing, sink);
  emitter.inputs();
  for (std::uint64_t i = 0; i < gemm.m; i += tile.i) {
    for (std::uint64_t j = 0; j < gemm.n; j += tile.j) {
      emitter.tile({i, j, std::min(tile.i, gemm.m - i), std::min(tile.j, gemm.n - j)});
    }
  }
  emitter.outputs();
}

void emit_gemm(const Gemm& gemm, const Nest& nest, ProgramSink& sink) {
  const NestLayout layout(gemm, nest);
  const auto bulk = [&](NestCell::Array array, std::uint64_t cell) { return layout.address({array, 0, cell}); };
  for (std::uint64_t cell = 0; cell < gemm.m * gemm.k; ++cell) sink.input(bulk(NestCell::Array::a, cell));
  for (std::uint64_t cell = 0; cell < gemm.k * gemm.n; ++cell) sink.input(bulk(NestCell::Array::b, cell));
  NestProgram(gemm, nest).run([&](const NestInstruction& step) {
    const std::uint64_t to = layout.address(step.destination);
    const std::uint64_t left = layout.address(step.left);
    if (step.operation == NestInstruction::Operation::copy) return sink.instruction(instruct(Op::copy, to, left));
    const Op op = step.operation == NestInstruction::Operation::add ? Op::add : Op::mul;
    const std::uint64_t right = layout.address(step.right);
    sink.instruction(to == left ? accumulate(op, to, right) : instruct(op, to, left, right));
  });
  for (std::uint64_t cell = 0; cell < gemm.m * gemm.n; ++cell) sink.output(bulk(NestCell::Array::c, cell));
}

void emit_gemm(const Gemm& gemm, const Schedule& schedule, ProgramSink& sink) {
  std::visit(
      [&](const auto& of_groups) {
        check(of_groups.size() == 1 && of_groups[0].size() == 1, "a schedule of one GEMM");
        emit_gemm(gemm, of_groups[0][0], sink);
      },
      schedule);
}

}  // namespace joulegrid::ir
