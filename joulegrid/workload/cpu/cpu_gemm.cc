#include "joulegrid/workload/cpu/cpu_gemm.h"

#include <algorithm>
#include <new>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/workload/cpu/aligned_array.h"
#include "joulegrid/workload/cpu/bit_gemm.h"
#include "joulegrid/workload/cpu/one_dnn.h"
#include "joulegrid/workload/memory.h"

namespace joulegrid {

namespace {

constexpr const char* fp32_name = "strict_fp32";
constexpr const char* bf16_name = "bf16";
constexpr const char* int8_name = "int8";
constexpr const char* bits_name = "b1_and_popcount";

std::uint64_t words_of_bits(std::uint64_t bits) { return bits / 64 + (bits % 64 == 0 ? 0 : 1); }

template <typename T>
struct Precision;
template <>
struct Precision<float> {
  using Output = float;
  static constexpr one_dnn::Matmul::Types types{one_dnn::Type::f32, one_dnn::Type::f32, one_dnn::Type::f32};
  static constexpr const char* semantics = "FP32 x FP32 -> FP32; no reduced precision inside; oneDNN";
};
template <>
struct Precision<BFloat16> {
  using Output = BFloat16;
  static constexpr one_dnn::Matmul::Types types{one_dnn::Type::bf16, one_dnn::Type::bf16, one_dnn::Type::bf16};
  static constexpr const char* semantics = "BF16 x BF16 -> BF16; accumulated in FP32; oneDNN";
};
double as_double(float value) { return value; }
double as_double(BFloat16 value) { return to_float(value); }

std::string facts_json(const char* semantics, const std::string& kernel) {
  Json json;
  json["semantics"] = semantics;
  json["kernel"] = kernel;
  return json.dump();
}

std::string one_dnn_json() {
  Json json;
  json["onednn_version"] = one_dnn::version();
  json["onednn_instruction_set"] = one_dnn::instruction_set();
  return json.dump();
}

/// FP32 and BF16.
template <typename T>
class OneDnnGemm final : public CpuGemm {
 public:
  using Output = typename Precision<T>::Output;

  OneDnnGemm(std::string name, const GemmShape& shape, const GemmValues& values, unsigned threads)
      : name_(std::move(name)), columns_(shape.n), matmul_(shape, Precision<T>::types, threads), a_(shape.m * shape.k) {
    {
      AlignedArray<T> b(shape.k * shape.n);
      fill(b.span(), values, GemmOperand::b, threads);
      matmul_.pack_b(b.data());
    }
    fill(a_.span(), values, GemmOperand::a, threads);
    c_ = AlignedArray<Output>(shape.m * shape.n);
  }

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { pending_ += repetitions; }

  std::optional<Fault> synchronise() override {
    for (std::uint64_t left = std::exchange(pending_, 0); left > 0; --left) {
      if (auto fault = matmul_.multiply(a_.data(), c_.data())) return fault;
    }
    return std::nullopt;
  }

  std::string facts() const override { return facts_json(Precision<T>::semantics, matmul_.kernel()); }
  std::string environment() const override { return one_dnn_json(); }
  double output(std::uint64_t row, std::uint64_t column) const override { return as_double(c_[row * columns_ + column]); }

 private:
  std::string name_;
  std::uint64_t columns_;
  one_dnn::Matmul matmul_;
  AlignedArray<T> a_;
  AlignedArray<Output> c_;
  std::uint64_t pending_ = 0;
};

class Int8Gemm final : public CpuGemm {
 public:
  Int8Gemm(std::string name, const GemmShape& shape, const GemmValues& values, unsigned threads)
      : name_(std::move(name)),
        columns_(shape.n),
        product_(shape, threads),
        a_(shape.m * shape.k),
        b_(shape.k * shape.n),
        c_(shape.m * shape.n) {
    fill(a_.span(), values, GemmOperand::a, threads);
    fill(b_.span(), values, GemmOperand::b, threads);
  }

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { pending_ += repetitions; }

  std::optional<Fault> synchronise() override {
    for (std::uint64_t left = std::exchange(pending_, 0); left > 0; --left) {
      if (auto fault = product_.multiply(a_.data(), b_.data(), c_.data())) return fault;
    }
    return std::nullopt;
  }

  std::string facts() const override {
    return facts_json("signed INT8 x signed INT8 -> INT32; exact sums; oneDNN", "dnnl_gemm_s8s8s32");
  }
  std::string environment() const override { return one_dnn_json(); }
  double output(std::uint64_t row, std::uint64_t column) const override { return c_[row * columns_ + column]; }

 private:
  std::string name_;
  std::uint64_t columns_;
  one_dnn::Int8Product product_;
  AlignedArray<std::int8_t> a_;
  AlignedArray<std::int8_t> b_;
  AlignedArray<std::int32_t> c_;
  std::uint64_t pending_ = 0;
};

class BitGemmStage final : public CpuGemm {
 public:
  BitGemmStage(std::string name, const GemmShape& shape, const GemmValues& values, unsigned threads)
      : name_(std::move(name)), columns_(shape.n), gemm_(shape, threads) {
    const auto operand = [&](std::uint64_t lines, GemmOperand which) {
      AlignedArray<std::uint64_t> bits(lines * words_of_bits(shape.k));
      fill_bits(bits.span(), shape.k, values, which, threads);
      return bits;
    };
    gemm_.pack_a(operand(shape.m, GemmOperand::a).span());
    gemm_.pack_b(operand(shape.n, GemmOperand::b).span());
    c_ = AlignedArray<std::int32_t>(shape.m * shape.n);
  }

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { pending_ += repetitions; }

  std::optional<Fault> synchronise() override {
    if (const std::uint64_t repetitions = std::exchange(pending_, 0)) gemm_.multiply(c_.span(), repetitions);
    return std::nullopt;
  }

  std::string facts() const override {
    return facts_json("packed B1 AND + population count -> INT32; joulegrid", "joulegrid:" + BitGemm::instruction_set());
  }
  std::string environment() const override {
    Json json;
    json["b1_instruction_set"] = BitGemm::instruction_set();
    return json.dump();
  }
  double output(std::uint64_t row, std::uint64_t column) const override { return c_[row * columns_ + column]; }

 private:
  std::string name_;
  std::uint64_t columns_;
  BitGemm gemm_;
  AlignedArray<std::int32_t> c_;
  std::uint64_t pending_ = 0;
};

/// What a stage needs, about: while it is measured, and beside that while it is made.
struct Needs {
  Wide kept = 0;
  Wide passing = 0;
};

Needs needs_of(const std::string& name, const GemmShape& shape) {
  const auto values = [](std::uint64_t rows, std::uint64_t columns, std::size_t bytes) {
    return checked_mul(checked_mul(rows, columns), bytes);
  };
  if (name == bits_name) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    return {checked_add(BitGemm::bytes(shape), values(shape.m, shape.n, sizeof(std::int32_t))),
            values(std::max(shape.m, shape.n), words_of_bits(shape.k), word)};
  }
  const std::size_t input = name == fp32_name ? sizeof(float) : name == bf16_name ? sizeof(BFloat16) : sizeof(std::int8_t);
  const std::size_t output = name == bf16_name ? sizeof(BFloat16) : sizeof(std::int32_t);
  const Wide b = values(shape.k, shape.n, input);
  return {checked_add(checked_add(values(shape.m, shape.k, input), b), values(shape.m, shape.n, output)), b};
}

void require_sums_fit(const std::string& name, std::uint64_t k) {
  constexpr std::uint64_t most_bits = (std::uint64_t{1} << 31U) - 1;
  constexpr std::uint64_t most_products = most_bits >> 14U;  // of -128 · -128
  const std::uint64_t most = name == int8_name ? most_products : name == bits_name ? most_bits : max_size;
  if (k > most) {
    throw Error(ErrorCode::bad_input, "sums of " + std::to_string(k) + " products of " + name +
                                          " may not fit 32 bits; at most " + std::to_string(most) + " do");
  }
}

std::unique_ptr<CpuGemm> make(const std::string& name, const GemmShape& shape, const GemmValues& values, unsigned threads) {
  if (name == fp32_name) return std::make_unique<OneDnnGemm<float>>(name, shape, values, threads);
  if (name == bf16_name) return std::make_unique<OneDnnGemm<BFloat16>>(name, shape, values, threads);
  if (name == int8_name) return std::make_unique<Int8Gemm>(name, shape, values, threads);
  return std::make_unique<BitGemmStage>(name, shape, values, threads);
}

}  // namespace

const std::vector<std::string>& cpu_gemm_names() {
  static const std::vector<std::string> names{fp32_name, bf16_name, int8_name, bits_name};
  return names;
}

std::vector<std::unique_ptr<CpuGemm>> make_cpu_gemms(const std::vector<std::string>& names, const GemmShape& shape,
                                                     const GemmValues& values, unsigned threads) {
  Needs needs;
  for (const std::string& name : names) {
    const auto& known = cpu_gemm_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
      throw Error(ErrorCode::bad_input, "there is no stage " + in_quotes(name) + " on a CPU; there are " + list);
    }
    require_sums_fit(name, shape.k);
    const Needs more = needs_of(name, shape);
    needs.kept = checked_add(needs.kept, more.kept);
    needs.passing = std::max(needs.passing, more.passing);
  }
  const std::string what = "a product of " + std::to_string(shape.m) + " x " + std::to_string(shape.k) + " x " +
                           std::to_string(shape.n) + " in " + std::to_string(names.size()) +
                           (names.size() == 1 ? " stage" : " stages");
  require_memory(checked_add(needs.kept, needs.passing), what);
  std::vector<std::unique_ptr<CpuGemm>> stages;
  try {
    for (const std::string& name : names) stages.push_back(make(name, shape, values, threads));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::unavailable, what + " needs more memory than this process may have");
  }
  return stages;
}

}  // namespace joulegrid
