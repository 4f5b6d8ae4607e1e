#include "joulegrid/ir/run_block.h"

// Highway compiles what follows once for every instruction set of the architecture, by including this file again, and picks
// the best one of the machine at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "joulegrid/ir/run_block.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace joulegrid::ir::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::int8_t>;
using Integers = hn::ScalableTag<std::int64_t>;
#if HWY_TARGET == HWY_SCALAR
using Floats = hn::ScalableTag<float>;  // one lane, like everything there
#else
using Floats = hn::Repartition<float, Bytes>;
#endif

/// Where an instruction's operands lie in a block. A destination may be one of the sources: every lane is read before it is
/// written.
template <typename Value>
class Operands {
 public:
  Operands(const Program::Step& step, const Block<Value>& block) : step_(step), cells_(block.cells), lanes_(block.lanes) {}

  std::size_t lanes() const { return lanes_; }
  Value* dest() const { return at(step_.dest); }
  const Value* a() const { return at(step_.a); }
  const Value* b() const { return at(step_.b()); }
  const Value* c() const { return at(step_.c()); }

 private:
  Value* at(Cell cell) const { return cells_ + cell * lanes_; }

  Program::Step step_;  // a copy: the compiler must take a byte that is stored for a part of anything else in memory
  Value* cells_;
  std::size_t lanes_;
};

// What an instruction does to vectors of either kind of cell, where it cannot fail.

struct Copy {
  template <class V>
  HWY_INLINE V operator()(V a) const {
    return a;
  }
};
struct Not {
  template <class V>
  HWY_INLINE V operator()(V a) const {
    return hn::Not(a);
  }
};
struct And {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::And(a, b);
  }
};
struct Or {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Or(a, b);
  }
};
struct Xor {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Xor(a, b);
  }
};
struct Select {
  template <class V>
  HWY_INLINE V operator()(V c, V t, V f) const {
    return hn::IfThenElse(hn::Eq(c, hn::Zero(hn::DFromV<V>())), f, t);
  }
};
template <Predicate predicate>
struct Compare {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    const V one = hn::Set(hn::DFromV<V>(), 1);
    if constexpr (predicate == Predicate::eq) return hn::IfThenElseZero(hn::Eq(a, b), one);
    if constexpr (predicate == Predicate::ne) return hn::IfThenZeroElse(hn::Eq(a, b), one);
    if constexpr (predicate == Predicate::lt) return hn::IfThenElseZero(hn::Lt(a, b), one);
    if constexpr (predicate == Predicate::le) return hn::IfThenZeroElse(hn::Lt(b, a), one);
    if constexpr (predicate == Predicate::gt) return hn::IfThenElseZero(hn::Lt(b, a), one);
    if constexpr (predicate == Predicate::ge) return hn::IfThenZeroElse(hn::Lt(a, b), one);
  }
};

// And what it does to byte cells, which wrap.

struct AddBytes {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct SubBytes {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct MulBytes {
  /// There is no product of bytes: the even ones and the odd ones are multiplied within 16 bits.
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    const hn::DFromV<V> d;
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, static_cast<std::int8_t>(hn::GetLane(a) * hn::GetLane(b)));
#else
    const hn::Repartition<std::uint16_t, decltype(d)> d16;
    const auto a16 = hn::BitCast(d16, a);
    const auto b16 = hn::BitCast(d16, b);
    const auto even = hn::And(hn::Mul(a16, b16), hn::Set(d16, 0x00FF));
    const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::And(b16, hn::Set(d16, 0xFF00)));
    return hn::BitCast(d, hn::Or(even, odd));
#endif
  }
};
struct AbsBytes {
  template <class V>
  HWY_INLINE V operator()(V a) const {
    return hn::Abs(a);
  }
};

template <class D, class F, typename Value>
HWY_INLINE void each1(D d, const F& f, const Operands<Value>& of) {
  Value* const dest = of.dest();
  const Value* const a = of.a();
  for (std::size_t i = 0; i < of.lanes(); i += hn::Lanes(d)) hn::Store(f(hn::Load(d, a + i)), d, dest + i);
}

template <class D, class F, typename Value>
HWY_INLINE void each2(D d, const F& f, const Operands<Value>& of) {
  Value* const dest = of.dest();
  const Value* const a = of.a();
  const Value* const b = of.b();
  for (std::size_t i = 0; i < of.lanes(); i += hn::Lanes(d)) hn::Store(f(hn::Load(d, a + i), hn::Load(d, b + i)), d, dest + i);
}

template <class D, class F, typename Value>
HWY_INLINE void each3(D d, const F& f, const Operands<Value>& of) {
  Value* const dest = of.dest();
  const Value* const a = of.a();
  const Value* const b = of.b();
  const Value* const c = of.c();
  for (std::size_t i = 0; i < of.lanes(); i += hn::Lanes(d)) {
    hn::Store(f(hn::Load(d, a + i), hn::Load(d, b + i), hn::Load(d, c + i)), d, dest + i);
  }
}

/// The operations that do the same to both kinds of cells.
template <class D, typename Value>
HWY_INLINE void run_common(D d, const Program::Step& step, const Operands<Value>& of) {
  switch (step.op) {
    case Op::copy: return each1(d, Copy(), of);
    case Op::bit_not: return each1(d, Not(), of);
    case Op::bit_and: return each2(d, And(), of);
    case Op::bit_or: return each2(d, Or(), of);
    case Op::bit_xor: return each2(d, Xor(), of);
    case Op::select: return each3(d, Select(), of);
    default: break;
  }
  switch (step.predicate) {
    case Predicate::eq: return each2(d, Compare<Predicate::eq>(), of);
    case Predicate::ne: return each2(d, Compare<Predicate::ne>(), of);
    case Predicate::lt: return each2(d, Compare<Predicate::lt>(), of);
    case Predicate::le: return each2(d, Compare<Predicate::le>(), of);
    case Predicate::gt: return each2(d, Compare<Predicate::gt>(), of);
    case Predicate::ge: return each2(d, Compare<Predicate::ge>(), of);
  }
}

/// Single precision divides bytes exactly enough: a quotient that is no integer is at least 1/128 away from one.
HWY_INLINE void divide_bytes(const Operands<std::int8_t>& of, std::uint64_t instruction, FaultLog& faults) {
  const Bytes d;
  const Floats dfloat;
  const hn::RebindToSigned<decltype(dfloat)> d32;
  const hn::Rebind<std::int8_t, decltype(d32)> dquarter;
  for (std::size_t i = 0; i < of.lanes(); i += hn::Lanes(d)) {
    const std::int8_t* const b_i = of.b() + i;
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Eq(hn::Load(d, b_i), hn::Zero(d))))) {
      for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
        if (b_i[lane] == 0) faults.note(i + lane, instruction, Fault::zero_divisor);
      }
    }
    for (std::size_t q = i; q < i + hn::Lanes(d); q += hn::Lanes(d32)) {
      const auto a = hn::PromoteTo(d32, hn::Load(dquarter, of.a() + q));
      const auto b = hn::PromoteTo(d32, hn::Load(dquarter, of.b() + q));
      const auto divisor = hn::IfThenElse(hn::Eq(b, hn::Zero(d32)), hn::Set(d32, 1), b);
      const auto quotient = hn::Floor(hn::Div(hn::ConvertTo(dfloat, a), hn::ConvertTo(dfloat, divisor)));
      const auto wrapped = hn::ShiftRight<24>(hn::ShiftLeft<24>(hn::ConvertTo(d32, quotient)));
      hn::Store(hn::DemoteTo(dquarter, wrapped), dquarter, of.dest() + q);
    }
  }
}

void run_bytes(std::span<const Program::Step> steps, const Block<std::int8_t>& block) {
  const Bytes d;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Program::Step& step = steps[s];
    const Operands<std::int8_t> of(step, block);
    switch (step.op) {
      case Op::add: each2(d, AddBytes(), of); break;
      case Op::sub: each2(d, SubBytes(), of); break;
      case Op::mul: each2(d, MulBytes(), of); break;
      case Op::abs: each1(d, AbsBytes(), of); break;
      case Op::div: divide_bytes(of, s, *block.faults); break;
      case Op::set: std::fill_n(of.dest(), of.lanes(), static_cast<std::int8_t>(step.literal())); break;
      default: run_common(d, step, of); break;
    }
  }
}

// Integer cells are exact: a vector in which something may overflow is done again lane by lane.

/// The exact result of an instruction that can overflow, or the fault.
HWY_INLINE bool compute(Op op, std::int64_t a, std::int64_t b, std::int64_t& result, Fault& fault) {
  fault = Fault::overflow;
  switch (op) {
    case Op::add: return !__builtin_add_overflow(a, b, &result);
    case Op::sub: return !__builtin_sub_overflow(a, b, &result);
    case Op::mul: return !__builtin_mul_overflow(a, b, &result);
    case Op::abs: return a >= 0 ? (result = a, true) : !__builtin_sub_overflow(std::int64_t{0}, a, &result);
    default: break;
  }
  if (b == 0) {
    fault = Fault::zero_divisor;
    return false;
  }
  if (b == -1) return !__builtin_sub_overflow(std::int64_t{0}, a, &result);
  result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return true;
}

HWY_NOINLINE void compute_lanes(Op op, const Operands<std::int64_t>& of, std::size_t from, std::size_t to,
                                std::uint64_t instruction, FaultLog& faults) {
  const std::int64_t* const a = of.a();
  const std::int64_t* const b = op == Op::abs ? a : of.b();
  for (std::size_t lane = from; lane < to; ++lane) {
    std::int64_t result = 0;
    Fault fault{};
    if (!compute(op, a[lane], b[lane], result, fault)) {
      faults.note(lane, instruction, fault);
      result = 0;
    }
    of.dest()[lane] = result;
  }
}

struct AddIntegers {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
  /// The sum's sign differs from both signs.
  template <class V>
  HWY_INLINE auto overflows(V a, V b, V sum) const {
    return hn::Lt(hn::And(hn::Xor(a, sum), hn::Xor(b, sum)), hn::Zero(Integers()));
  }
};
struct SubIntegers {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Sub(a, b);
  }
  template <class V>
  HWY_INLINE auto overflows(V a, V b, V difference) const {
    return hn::Lt(hn::And(hn::Xor(a, b), hn::Xor(a, difference)), hn::Zero(Integers()));
  }
};
struct MulIntegers {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
#if HWY_TARGET == HWY_SCALAR
    return hn::Mul(a, b);
#else
    const hn::RepartitionToNarrow<Integers> half;
    return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
#endif
  }
  /// A factor may need more than 32 bits; then the product above says nothing.
  template <class V>
  HWY_INLINE auto overflows(V a, V b, V /*product*/) const {
    const V difference = hn::Or(hn::Xor(a, low_half(a)), hn::Xor(b, low_half(b)));
    return hn::Not(hn::Eq(difference, hn::Zero(Integers())));
  }
  template <class V>
  static HWY_INLINE V low_half(V a) {
    return hn::ShiftRight<32>(hn::ShiftLeft<32>(a));
  }
};
struct AbsIntegers {
  template <class V>
  HWY_INLINE V operator()(V a, V /*b*/) const {
    return hn::IfThenElse(hn::Lt(a, hn::Zero(Integers())), hn::Neg(a), a);
  }
  template <class V>
  HWY_INLINE auto overflows(V a, V /*b*/, V /*result*/) const {
    return hn::Eq(a, hn::Set(Integers(), std::numeric_limits<std::int64_t>::min()));
  }
};

template <class F>
HWY_INLINE void each_exactly(const F& f, Op op, const Operands<std::int64_t>& of, std::uint64_t instruction, FaultLog& faults) {
  const Integers d;
  std::int64_t* const dest = of.dest();
  const std::int64_t* const a = of.a();
  const std::int64_t* const b = op == Op::abs ? a : of.b();
  for (std::size_t i = 0; i < of.lanes(); i += hn::Lanes(d)) {
    const auto a_i = hn::Load(d, a + i);
    const auto b_i = hn::Load(d, b + i);
    const auto result = f(a_i, b_i);
    if (HWY_LIKELY(hn::AllFalse(d, f.overflows(a_i, b_i, result)))) {
      hn::Store(result, d, dest + i);
    } else {
      compute_lanes(op, of, i, i + hn::Lanes(d), instruction, faults);
    }
  }
}

void run_integers(std::span<const Program::Step> steps, const Block<std::int64_t>& block) {
  const Integers d;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Program::Step& step = steps[s];
    const Operands<std::int64_t> of(step, block);
    switch (step.op) {
      case Op::add: each_exactly(AddIntegers(), step.op, of, s, *block.faults); break;
      case Op::sub: each_exactly(SubIntegers(), step.op, of, s, *block.faults); break;
      case Op::mul: each_exactly(MulIntegers(), step.op, of, s, *block.faults); break;
      case Op::abs: each_exactly(AbsIntegers(), step.op, of, s, *block.faults); break;
      case Op::div: compute_lanes(step.op, of, 0, of.lanes(), s, *block.faults); break;
      case Op::set: std::fill_n(of.dest(), of.lanes(), step.literal()); break;
      default: run_common(d, step, of); break;
    }
  }
}

std::size_t lanes_of_bytes() { return hn::Lanes(Bytes()); }
std::size_t lanes_of_integers() { return hn::Lanes(Integers()); }

}  // namespace joulegrid::ir::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace joulegrid::ir {

HWY_EXPORT(run_bytes);
HWY_EXPORT(run_integers);
HWY_EXPORT(lanes_of_bytes);
HWY_EXPORT(lanes_of_integers);

std::size_t byte_lanes() { return HWY_DYNAMIC_DISPATCH(lanes_of_bytes)(); }
std::size_t integer_lanes() { return HWY_DYNAMIC_DISPATCH(lanes_of_integers)(); }

void run_block(std::span<const Program::Step> steps, const Block<std::int8_t>& block) {
  HWY_DYNAMIC_DISPATCH(run_bytes)(steps, block);
}
void run_block(std::span<const Program::Step> steps, const Block<std::int64_t>& block) {
  HWY_DYNAMIC_DISPATCH(run_integers)(steps, block);
}

}  // namespace joulegrid::ir
#endif
