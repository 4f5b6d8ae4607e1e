#pragma once

#include <array>
#include <cstdint>

#include "joulegrid/ir/op.h"

namespace joulegrid::ir {

/// One instruction, by the addresses of its cells.
struct Instruction {
  Op op = Op::set;
  Predicate predicate = Predicate::eq;  ///< of cmp
  bool short_form = false;              ///< written `op d,b`: the first source is d
  std::uint64_t dest = 0;
  std::array<std::uint64_t, 3> sources{};  ///< the first reads_of(op) of them
  std::int64_t literal = 0;                ///< of set

  bool operator==(const Instruction&) const = default;
};

/// `op d,a`, `op d,a,b` or `select d,c,t,f`.
constexpr Instruction instruct(Op op, std::uint64_t d, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return {op, Predicate::eq, false, d, {a, b, c}, 0};
}

/// The short form `op d,b`: d op b goes to d.
constexpr Instruction accumulate(Op op, std::uint64_t d, std::uint64_t b) { return {op, Predicate::eq, true, d, {d, b, 0}, 0}; }

/// `set d,K`.
constexpr Instruction set_to(std::uint64_t d, std::int64_t literal) { return {Op::set, Predicate::eq, false, d, {}, literal}; }

/// `cmp d,a,b,p`.
constexpr Instruction compare(std::uint64_t d, std::uint64_t a, std::uint64_t b, Predicate predicate) {
  return {Op::cmp, predicate, false, d, {a, b, 0}, 0};
}

/// Byte cells take literals that a signed or an unsigned byte has.
constexpr bool is_byte_literal(std::int64_t literal) { return literal >= -128 && literal <= 255; }

}  // namespace joulegrid::ir
