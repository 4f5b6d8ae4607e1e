#include "joulegrid/bound/floor.h"

#include "joulegrid/bound/chain_floor.h"
#include "joulegrid/bound/gemm_floor.h"

namespace joulegrid {

const char* theorem_name(FloorTheorem theorem) {
  switch (theorem) {
    case FloorTheorem::every_read: return "Proposition 1: every read";
    case FloorTheorem::first_reads: return "Proposition 2: first and last reads";
    case FloorTheorem::product: return "Theorem 1: blocks of one matrix product";
    case FloorTheorem::chain: return "Theorem 2: blocks of a chain of layers";
    case FloorTheorem::copies: return "Theorem 3: loads and copies";
  }
  return "";
}

Floor floor_of(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return gemm_floor(*gemm);
  const auto& epoch = std::get<Epoch>(problem);
  if (epoch.layers() == 1) return gemm_floor(epoch.gemm(epoch.examples(), 0));
  return chain_floor(epoch);
}

}  // namespace joulegrid
