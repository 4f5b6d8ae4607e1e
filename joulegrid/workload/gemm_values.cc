#include "joulegrid/workload/gemm_values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/base/random.h"

namespace joulegrid {

namespace {

constexpr std::string_view sparse_prefix = "sparse:";

/// Calls fill(begin, end) for parts of 0..size on so many threads.
template <typename Fill>
void in_parts(std::size_t size, unsigned threads, const Fill& fill_part) {
  check(threads > 0, "values are filled by a thread");
  std::vector<std::jthread> others;
  const auto bound = [&](unsigned part) { return static_cast<std::size_t>(Wide{size} * part / threads); };
  for (unsigned part = 1; part < threads; ++part) {
    others.emplace_back([&, part] { fill_part(bound(part), bound(part + 1)); });
  }
  fill_part(0, bound(1));
}

/// The numbers of an operand from that of a place on, `numbers_each` to a place.
SplitMix64 stream(const GemmValues& values, GemmOperand operand, std::uint64_t place, std::uint64_t numbers_each) {
  SplitMix64 seeds(values.seed);
  if (operand == GemmOperand::b) seeds.next();
  SplitMix64 numbers(seeds.next());
  numbers.skip(place * numbers_each);
  return numbers;
}

double uniform_real(std::uint64_t random) {
  constexpr unsigned dropped = 64 - 23;
  return static_cast<double>(2 * (random >> dropped) + 1) * 0x1p-23 - 1;
}

/// By Box and Muller.
double normal_real(SplitMix64& numbers) {
  const double radius = std::sqrt(-2 * std::log1p(-numbers.uniform()));
  return radius * std::cos(2 * std::numbers::pi * numbers.uniform());
}

float as(double value, float /*type*/) { return static_cast<float>(value); }
BFloat16 as(double value, BFloat16 /*type*/) { return to_bfloat16(static_cast<float>(value)); }

/// A value of a floating type that is two numbers of the stream.
template <typename T>
struct Reals {
  static T one() { return as(1, T{}); }
  static T uniform(SplitMix64& numbers) {
    const double value = uniform_real(numbers.next());
    numbers.next();
    return as(value, T{});
  }
  static T normal(SplitMix64& numbers) { return as(normal_real(numbers), T{}); }
  static T never_zero(SplitMix64& numbers) { return as(uniform_real(numbers.next()), T{}); }
};

struct Int8s {
  static std::int8_t one() { return 1; }
  static std::int8_t uniform(SplitMix64& numbers) {
    const std::uint64_t value = numbers.below(256);
    numbers.next();
    return static_cast<std::int8_t>(static_cast<int>(value) - 128);
  }
  static std::int8_t normal(SplitMix64& numbers) {
    return static_cast<std::int8_t>(std::clamp(std::nearbyint(32 * normal_real(numbers)), -128.0, 127.0));
  }
  static std::int8_t never_zero(SplitMix64& numbers) {
    const int value = static_cast<int>(numbers.below(255)) - 128;
    return static_cast<std::int8_t>(value < 0 ? value : value + 1);
  }
};

template <typename Type, typename T>
void fill_values(std::span<T> out, const GemmValues& values, GemmOperand operand, unsigned threads) {
  in_parts(out.size(), threads, [&](std::size_t begin, std::size_t end) {
    const auto part = out.subspan(begin, end - begin);
    SplitMix64 numbers = stream(values, operand, begin, 2);
    switch (values.kind) {
      case GemmValues::Kind::zeros: std::fill(part.begin(), part.end(), T{}); break;
      case GemmValues::Kind::ones: std::fill(part.begin(), part.end(), Type::one()); break;
      case GemmValues::Kind::uniform: std::generate(part.begin(), part.end(), [&] { return Type::uniform(numbers); }); break;
      case GemmValues::Kind::normal: std::generate(part.begin(), part.end(), [&] { return Type::normal(numbers); }); break;
      case GemmValues::Kind::sparse:
        std::generate(part.begin(), part.end(), [&] {
          const bool zero = numbers.uniform() < values.zero_share;
          const T other = Type::never_zero(numbers);
          return zero ? T{} : other;
        });
        break;
    }
  });
}

}  // namespace

BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = 0x7FFFU + ((bits >> 16U) & 1U);
  return {static_cast<std::uint16_t>((bits + half) >> 16U)};
}

float to_float(BFloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }

GemmValues parse_gemm_values(const std::string& text, std::uint64_t seed, const std::string& where) {
  GemmValues values;
  values.seed = seed;
  for (const auto kind :
       {GemmValues::Kind::uniform, GemmValues::Kind::normal, GemmValues::Kind::zeros, GemmValues::Kind::ones}) {
    values.kind = kind;
    if (text == to_string(values)) return values;
  }
  values.kind = GemmValues::Kind::sparse;
  if (text.starts_with(sparse_prefix)) {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + sparse_prefix.size(), end, values.zero_share);
    if (parsed.ec == std::errc{} && parsed.ptr == end && values.zero_share >= 0 && values.zero_share <= 1) return values;
    throw Error(ErrorCode::bad_input, "expected a share of zeros from 0 to 1, as in sparse:0.9, not " + in_quotes(text), where);
  }
  throw Error(ErrorCode::bad_input, "expected uniform, normal, zeros, ones or sparse:P, not " + in_quotes(text), where);
}

std::string to_string(const GemmValues& values) {
  switch (values.kind) {
    case GemmValues::Kind::uniform: return "uniform";
    case GemmValues::Kind::normal: return "normal";
    case GemmValues::Kind::zeros: return "zeros";
    case GemmValues::Kind::ones: return "ones";
    case GemmValues::Kind::sparse: break;
  }
  char share[32];
  const auto written = std::to_chars(share, share + sizeof share, values.zero_share);
  return std::string(sparse_prefix) + std::string(share, written.ptr);
}

void fill(std::span<float> out, const GemmValues& values, GemmOperand operand, unsigned threads) {
  fill_values<Reals<float>>(out, values, operand, threads);
}
void fill(std::span<BFloat16> out, const GemmValues& values, GemmOperand operand, unsigned threads) {
  fill_values<Reals<BFloat16>>(out, values, operand, threads);
}
void fill(std::span<std::int8_t> out, const GemmValues& values, GemmOperand operand, unsigned threads) {
  fill_values<Int8s>(out, values, operand, threads);
}

void fill_bits(std::span<std::uint64_t> out, std::uint64_t bits, const GemmValues& values, GemmOperand operand,
               unsigned threads) {
  constexpr unsigned word_bits = 64;
  const std::uint64_t words_of_line = (bits + word_bits - 1) / word_bits;
  check(bits > 0 && out.size() % words_of_line == 0, "packed bits have whole lines");
  const bool each = values.kind == GemmValues::Kind::sparse;  // each bit has numbers of its own
  in_parts(out.size(), threads, [&](std::size_t begin, std::size_t end) {
    SplitMix64 numbers = stream(values, operand, begin, each ? 2 * word_bits : 1);
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t word = values.kind == GemmValues::Kind::zeros ? 0 : ~std::uint64_t{0};
      if (values.kind == GemmValues::Kind::uniform || values.kind == GemmValues::Kind::normal) word = numbers.next();
      if (each) {
        word = 0;
        for (unsigned bit = 0; bit < word_bits; ++bit) {
          word |= std::uint64_t{numbers.uniform() >= values.zero_share} << bit;
          numbers.next();
        }
      }
      const std::uint64_t first_bit = i % words_of_line * word_bits;
      if (bits - first_bit < word_bits) word &= (std::uint64_t{1} << (bits - first_bit)) - 1;
      out[i] = word;
    }
  });
}

}  // namespace joulegrid
