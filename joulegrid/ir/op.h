#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joulegrid::ir {

/// What an instruction does, in the order of the instruction sets; docs/ir.md has the forms and the meaning of each.
enum class Op : std::uint8_t { add, sub, mul, copy, bit_and, bit_or, bit_xor, bit_not, set, div, cmp, select, abs };
inline constexpr std::size_t op_count = 13;

/// The names in the text, by Op.
inline constexpr std::array<std::string_view, op_count> op_names = {"add", "sub", "mul", "copy", "and",    "or", "xor",
                                                                    "not", "set", "div", "cmp",  "select", "abs"};

/// What `cmp` asks about its two sources.
enum class Predicate : std::uint8_t { eq, ne, lt, le, gt, ge };
inline constexpr std::size_t predicate_count = 6;

/// The public instruction sets, each containing the one before.
enum class InstructionSet : std::uint8_t { v0, v1, v2, v3 };

constexpr std::string_view op_name(Op op) { return op_names[static_cast<std::size_t>(op)]; }

/// "eq", "ne", "lt", "le", "gt" or "ge".
std::string_view predicate_name(Predicate predicate);
std::optional<Predicate> find_predicate(std::string_view name);

/// "v0" to "v3".
std::string_view instruction_set_name(InstructionSet set);
std::optional<InstructionSet> find_instruction_set(std::string_view name);

/// The smallest set that has the operation.
constexpr InstructionSet instruction_set_of(Op op) {
  if (op <= Op::copy) return InstructionSet::v0;
  if (op <= Op::bit_not) return InstructionSet::v1;
  return op == Op::set ? InstructionSet::v2 : InstructionSet::v3;
}

/// How many cells the operation reads: 0 (set) to 3 (select).
constexpr unsigned reads_of(Op op) {
  switch (op) {
    case Op::set: return 0;
    case Op::copy:
    case Op::bit_not:
    case Op::abs: return 1;
    case Op::select: return 3;
    default: return 2;
  }
}

/// The operation has the short form `op d,b`, which reads d as its first source.
constexpr bool has_short_form(Op op) { return reads_of(op) == 2 && op != Op::cmp; }

/// The operation's operands as the text has them, for messages: "add d,a,b or add d,b".
std::string form_of(Op op);

}  // namespace joulegrid::ir
