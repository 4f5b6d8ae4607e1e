// Matrix products on a CPU: the stages that are measured, against the libraries called directly in a loop, and against what the
// processor's population counts allow. docs/performance.md has the figures.
//
//   gemm_bench [THREADS [ROUNDS [SHAPE…]]]        a shape is N or MxKxN
//
// Every round calls every candidate of a size and precision once, in turn (as often as fills 20 ms). Times are the processor
// time of all threads, so that others on the machine count less; ratios are medians over rounds of two times of one round.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "joulegrid/workload/cpu/aligned_array.h"
#include "joulegrid/workload/cpu/bit_gemm.h"
#include "joulegrid/workload/cpu/cpu_gemm.h"

extern "C" void omp_set_num_threads(int);

namespace joulegrid {
namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Shape {
  std::int64_t m = 0, k = 0, n = 0;

  std::size_t a_size() const { return static_cast<std::size_t>(m * k); }
  std::size_t b_size() const { return static_cast<std::size_t>(k * n); }
  std::size_t c_size() const { return static_cast<std::size_t>(m * n); }
  double mac() const { return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n); }
  std::string text() const { return m == k && k == n ? fmt::format("{}", n) : fmt::format("{}x{}x{}", m, k, n); }
};

/// "512" or "4096x784x2512".
Shape parse_shape(const std::string& text) {
  Shape shape;
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld", &shape.m, &shape.k, &shape.n) == 3) return shape;
  const std::int64_t n = std::atoll(text.c_str());
  return {n, n, n};
}

struct Candidate {
  std::string name;
  std::function<void(std::uint64_t)> run;  ///< so many products
  std::vector<double> seconds{};           ///< per product, of each round
};

/// A product by oneDNN's matmul, with B in the library's layout or row-major.
template <typename A, typename B, typename C>
std::function<void(std::uint64_t)> matmul(const Shape& shape, Type a_type, Type b_type, Type c_type, bool packed) {
  struct Parts {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    AlignedArray<A> a;
    AlignedArray<B> b;
    AlignedArray<std::uint8_t> packed_b;
    AlignedArray<C> c;
    dnnl::matmul primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  const auto parts = std::make_shared<Parts>();
  parts->a = AlignedArray<A>(shape.a_size());
  parts->b = AlignedArray<B>(shape.b_size());
  parts->c = AlignedArray<C>(shape.c_size());
  if constexpr (std::is_same_v<A, std::uint8_t>) {
    std::fill_n(parts->a.data(), parts->a.size(), std::uint8_t{77});
  } else {
    fill(parts->a.span(), {}, GemmOperand::a, 1);
  }
  fill(parts->b.span(), {}, GemmOperand::b, 1);
  const dnnl::memory::desc a({shape.m, shape.k}, a_type, Tag::ab);
  const dnnl::memory::desc b({shape.k, shape.n}, b_type, Tag::ab);
  const dnnl::memory::desc c({shape.m, shape.n}, c_type, Tag::ab);
  const dnnl::memory::desc b_of_choice({shape.k, shape.n}, b_type, Tag::any);
  const dnnl::matmul::primitive_desc plan({a, packed ? b_of_choice : b, c}, parts->engine);
  parts->primitive = dnnl::matmul(plan);
  dnnl::memory of_b(b, parts->engine, parts->b.data());
  if (packed) {
    parts->packed_b = AlignedArray<std::uint8_t>(plan.weights_desc().get_size());
    dnnl::memory packed_b(plan.weights_desc(), parts->engine, parts->packed_b.data());
    dnnl::reorder(of_b, packed_b).execute(parts->stream, of_b, packed_b);
    parts->stream.wait();
    of_b = packed_b;
  }
  parts->arguments = {{DNNL_ARG_SRC, dnnl::memory(a, parts->engine, parts->a.data())},
                      {DNNL_ARG_WEIGHTS, of_b},
                      {DNNL_ARG_DST, dnnl::memory(c, parts->engine, parts->c.data())}};
  return [parts](std::uint64_t count) {
    for (; count > 0; --count) {
      parts->primitive.execute(parts->stream, parts->arguments);
      parts->stream.wait();
    }
  };
}

template <typename In, typename Out>
struct Buffers {
  explicit Buffers(const Shape& shape) : a(shape.a_size()), b(shape.b_size()), c(shape.c_size()) {
    fill(a.span(), {}, GemmOperand::a, 1);
    fill(b.span(), {}, GemmOperand::b, 1);
  }
  AlignedArray<In> a, b;
  AlignedArray<Out> c;
};

Candidate stage(const std::string& name, const Shape& shape, unsigned threads) {
  const GemmShape of{static_cast<std::uint64_t>(shape.m), static_cast<std::uint64_t>(shape.k),
                     static_cast<std::uint64_t>(shape.n)};
  const std::shared_ptr<CpuGemm> made = std::move(make_cpu_gemms({name}, of, {}, threads).front());
  return {"stage", [made](std::uint64_t count) {
            made->enqueue(count);
            if (made->synchronise()) std::abort();
          }};
}

/// The first is the stage, the second what it is compared with: the library function that it uses, called directly.
std::vector<Candidate> candidates(const std::string& name, const Shape& shape, unsigned threads) {
  std::vector<Candidate> all{stage(name, shape, threads)};
  const auto [m, k, n] = shape;
  if (name == "strict_fp32") {
    for (const bool packed : {true, false}) {
      all.push_back({packed ? "oneDNN matmul, B packed" : "oneDNN matmul, B row-major",
                     matmul<float, float, float>(shape, Type::f32, Type::f32, Type::f32, packed)});
    }
    const auto buffers = std::make_shared<Buffers<float, float>>(shape);
    all.push_back({"oneDNN sgemm", [=, m = m, k = k, n = n](std::uint64_t count) {
                     for (; count > 0; --count) {
                       dnnl_sgemm('N', 'N', m, n, k, 1, buffers->a.data(), k, buffers->b.data(), n, 0, buffers->c.data(), n);
                     }
                   }});
    all.push_back({"OpenBLAS sgemm", [=](std::uint64_t count) {
                     const auto rows = static_cast<blasint>(shape.m);
                     const auto depth = static_cast<blasint>(shape.k);
                     const auto columns = static_cast<blasint>(shape.n);
                     for (; count > 0; --count) {
                       cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, buffers->a.data(), depth,
                                   buffers->b.data(), columns, 0, buffers->c.data(), columns);
                     }
                   }});
  }
  if (name == "bf16") {
    for (const bool packed : {true, false}) {
      all.push_back({packed ? "oneDNN matmul, B packed" : "oneDNN matmul, B row-major",
                     matmul<BFloat16, BFloat16, BFloat16>(shape, Type::bf16, Type::bf16, Type::bf16, packed)});
    }
  }
  if (name == "int8") {
    const auto buffers = std::make_shared<Buffers<std::int8_t, std::int32_t>>(shape);
    all.push_back({"oneDNN gemm_s8s8s32", [=, m = m, k = k, n = n](std::uint64_t count) {
                     const std::int32_t offset = 0;
                     for (; count > 0; --count) {
                       dnnl_gemm_s8s8s32('N', 'N', 'F', m, n, k, 1, buffers->a.data(), k, 0, buffers->b.data(), n, 0, 0,
                                         buffers->c.data(), n, &offset);
                     }
                   }});
    all.push_back({"oneDNN matmul s8, B packed (inexact)",
                   matmul<std::int8_t, std::int8_t, std::int32_t>(shape, Type::s8, Type::s8, Type::s32, true)});
    all.push_back({"oneDNN matmul u8, B packed",
                   matmul<std::uint8_t, std::int8_t, std::int32_t>(shape, Type::u8, Type::s8, Type::s32, true)});
  }
  return all;
}

/// Calls the candidates in turn, for so many rounds.
void time_in_turn(std::vector<Candidate>& all, unsigned rounds) {
  constexpr double least_seconds = 0.02;
  std::vector<std::uint64_t> counts;
  for (Candidate& candidate : all) {
    candidate.run(1);
    const double begin = processor_seconds();
    candidate.run(1);
    counts.push_back(1 + static_cast<std::uint64_t>(least_seconds / std::max(1e-6, processor_seconds() - begin)));
  }
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double begin = processor_seconds();
      all[i].run(counts[i]);
      all[i].seconds.push_back((processor_seconds() - begin) / static_cast<double>(counts[i]));
    }
  }
}

double ratio(const Candidate& of, const Candidate& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of.seconds.size(); ++i) ratios.push_back(to.seconds[i] / of.seconds[i]);
  return median(ratios);
}

// Loops in registers, for the bound of the products of bits. A repetition is so many instructions:
constexpr std::uint64_t chained = 16'000;

#if defined(__x86_64__)
/// One addition after the other: one a cycle.
void add_in_a_chain(std::uint64_t count) {
  for (; count > 0; --count) {
    for (unsigned i = 0; i < chained / 16; ++i) asm volatile(".rept 16\n lea 1(%%rax), %%rax\n .endr" ::: "rax");
  }
}

#define JOULEGRID_ALL_VECTORS                                                                                                  \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", \
      "xmm15"

/// Population counts of 512 bits that need not wait for each other.
void count_vectors(std::uint64_t count) {
  for (; count > 0; --count) {
    for (unsigned i = 0; i < chained / 16; ++i) {
      asm volatile(".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vpopcntd %%zmm\\r, %%zmm\\r\n .endr" ::
                       : JOULEGRID_ALL_VECTORS);
    }
  }
}

/// The same with the AND before and the addition after each.
void and_count_add(std::uint64_t count) {
  for (; count > 0; --count) {
    for (unsigned i = 0; i < chained / 16; ++i) {
      asm volatile(
          ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vpandd %%zmm31, %%zmm30, %%zmm29\n vpopcntd %%zmm29, %%zmm29\n "
          "vpaddd "
          "%%zmm29, %%zmm\\r, %%zmm\\r\n .endr" ::
              : JOULEGRID_ALL_VECTORS);
    }
  }
}

/// Population counts of 64 bits, for processors that have no others.
void count_words(std::uint64_t count) {
  for (; count > 0; --count) {
    for (unsigned i = 0; i < chained / 8; ++i) {
      asm volatile(".irp r,8,9,10,11,8,9,10,11\n popcnt %%rdi, %%r\\r\n .endr" ::: "r8", "r9", "r10", "r11");
    }
  }
}
#endif

void bench_bits(const Shape& shape, unsigned rounds, unsigned threads) {
  std::vector<Candidate> all{stage("b1_and_popcount", shape, threads)};
  double bits = 0;
#if defined(__x86_64__)
  const bool vectors = BitGemm::instruction_set() == "AVX3_DL";
  bits = vectors ? 512 : 64;
  all.push_back({"population counts alone", vectors ? count_vectors : count_words});
  all.push_back({"additions in a chain", add_in_a_chain});
  if (vectors) all.push_back({"AND, count, add", and_count_add});
#endif
  time_in_turn(all, rounds);
  const double mac = shape.mac();
  fmt::print("{:14} b1_and_popcount  {:38} {:9.1f} GOP/s a core", shape.text(), "stage, " + BitGemm::instruction_set(),
             2 * mac / median(all[0].seconds) * 1e-9);
  if (bits > 0) {
    // Of a round: bits that a core could count in a second, against those of the product.
    const auto of_bound = [&](const Candidate& loop) {
      std::vector<double> shares;
      for (std::size_t i = 0; i < rounds; ++i) {
        const double most = static_cast<double>(chained) * bits / loop.seconds[i];
        shares.push_back(mac / all[0].seconds[i] / most);
      }
      return median(shares);
    };
    fmt::print("  {:.3f} of the counts alone ({:.2f} a cycle of {:.0f} bits at {:.2f} GHz)", of_bound(all[1]),
               ratio(all[1], all[2]), bits, static_cast<double>(chained) / median(all[2].seconds) * 1e-9);
    if (all.size() > 3) fmt::print("; {:.3f} of AND, count, add ({:.2f} a cycle)", of_bound(all[3]), ratio(all[3], all[2]));
  }
  fmt::print("\n");
}

void bench(const Shape& shape, unsigned rounds, unsigned threads) {
  for (const std::string name : {"strict_fp32", "bf16", "int8"}) {
    std::vector<Candidate> all = candidates(name, shape, threads);
    time_in_turn(all, rounds);
    for (const Candidate& candidate : all) {
      fmt::print("{:14} {:16} {:38} {:9.1f} GOP/s a core  {:.3f} of the library directly\n", shape.text(), name, candidate.name,
                 2 * shape.mac() / median(candidate.seconds) * 1e-9, ratio(candidate, all[1]));
    }
  }
  bench_bits(shape, rounds, threads);
}

}  // namespace
}  // namespace joulegrid

int main(int argc, char** argv) {
  const auto threads = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  const auto rounds = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 9);
  std::vector<std::string> shapes(argv + std::min(argc, 3), argv + argc);
  if (shapes.empty()) shapes = {"512", "1024", "2048", "4096"};
  if (threads == 0 || rounds == 0) return 2;
  omp_set_num_threads(static_cast<int>(threads));
  openblas_set_num_threads(static_cast<int>(threads));
  for (const std::string& shape : shapes) joulegrid::bench(joulegrid::parse_shape(shape), rounds, threads);
}
