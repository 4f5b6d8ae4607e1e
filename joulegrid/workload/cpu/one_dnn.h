#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "joulegrid/counter/fault.h"
#include "joulegrid/workload/gemm_values.h"

namespace joulegrid {

/// The library oneDNN, opened at run time when it is first needed: the program starts without it.
///
/// Everything here throws Error(unavailable) where the library is missing, or where its header was when this was built.
namespace one_dnn {

enum class Type { f32, bf16, u8, s8, s32 };

/// "2.6.3".
std::string version();
/// The best instruction set that its kernels use on this machine: "avx512_core_bf16".
std::string instruction_set();

/// C = A · B of matrices of these types.
///
/// A and C are row-major; B is kept in the layout that the library likes best. FP32 is multiplied as FP32, whatever the
/// library's environment variables say. u8 · s8 → s32 is exact on processors with VNNI. s8 · s8 → s32 is exact only for sums up
/// to 2^24: oneDNN 2.6 corrects them in single precision; Int8Product is exact.
class Matmul {
 public:
  struct Types {
    Type a, b, c;
  };

  Matmul(const GemmShape& shape, Types types, unsigned threads);
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  /// Takes a row-major B, which is not needed afterwards.
  void pack_b(const void* b);

  /// One product, done on return; by threads of the library's own, which stay the calling thread's for its next call.
  std::optional<Fault> multiply(const void* a, void* c);

  /// What the library calls the kernel that it chose: "brg:avx512_core_vnni".
  std::string kernel() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// C = A · B of signed int8 with exact sums: the library's function for just that, which takes all three row-major.
class Int8Product {
 public:
  /// Throws Error(unavailable) where the library's kernel for this processor saturates in between (no VNNI).
  Int8Product(const GemmShape& shape, unsigned threads);

  /// One product, done on return, as Matmul does it.
  std::optional<Fault> multiply(const std::int8_t* a, const std::int8_t* b, std::int32_t* c) const;

 private:
  GemmShape shape_;
  unsigned threads_;
};

}  // namespace one_dnn
}  // namespace joulegrid
