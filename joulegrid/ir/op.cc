#include "joulegrid/ir/op.h"

#include <array>

namespace joulegrid::ir {

namespace {

constexpr std::array<std::string_view, predicate_count> predicate_names = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::array<std::string_view, 4> set_names = {"v0", "v1", "v2", "v3"};

template <typename Enum, std::size_t count>
std::optional<Enum> find(const std::array<std::string_view, count>& names, std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view predicate_name(Predicate predicate) { return predicate_names[static_cast<std::size_t>(predicate)]; }
std::optional<Predicate> find_predicate(std::string_view name) { return find<Predicate>(predicate_names, name); }

std::string_view instruction_set_name(InstructionSet set) { return set_names[static_cast<std::size_t>(set)]; }
std::optional<InstructionSet> find_instruction_set(std::string_view name) { return find<InstructionSet>(set_names, name); }

std::string form_of(Op op) {
  const std::string name(op_name(op));
  if (op == Op::set) return name + " d,K";
  if (op == Op::cmp) return name + " d,a,b,p";
  if (op == Op::select) return name + " d,c,t,f";
  if (reads_of(op) == 1) return name + " d,a";
  return name + " d,a,b or " + name + " d,b";
}

}  // namespace joulegrid::ir
