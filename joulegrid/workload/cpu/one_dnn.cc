#include "joulegrid/workload/cpu/one_dnn.h"

#include "joulegrid/base/error.h"

#if JOULEGRID_HAS_ONEDNN
#include <dnnl.h>
static_assert(DNNL_VERSION_MAJOR == 2, "this speaks the C interface of oneDNN 2");

#include <array>
#include <vector>

#include "joulegrid/counter/shared_library.h"
#include "joulegrid/workload/cpu/aligned_array.h"
#endif

namespace joulegrid::one_dnn {

#if JOULEGRID_HAS_ONEDNN

namespace {

/// What the library is used for, each function under its own name.
struct Library {
  template <typename Function>
  using Pointer = Function*;

#define JOULEGRID_ONEDNN_FUNCTIONS(X)    \
  X(dnnl_engine_create)                  \
  X(dnnl_gemm_s8s8s32)                   \
  X(dnnl_get_effective_cpu_isa)          \
  X(dnnl_matmul_desc_init)               \
  X(dnnl_memory_create)                  \
  X(dnnl_memory_desc_get_size)           \
  X(dnnl_memory_desc_init_by_tag)        \
  X(dnnl_memory_destroy)                 \
  X(dnnl_memory_set_data_handle)         \
  X(dnnl_primitive_attr_create)          \
  X(dnnl_primitive_attr_destroy)         \
  X(dnnl_primitive_attr_set_fpmath_mode) \
  X(dnnl_primitive_create)               \
  X(dnnl_primitive_desc_create)          \
  X(dnnl_primitive_desc_destroy)         \
  X(dnnl_primitive_desc_query)           \
  X(dnnl_primitive_desc_query_md)        \
  X(dnnl_primitive_destroy)              \
  X(dnnl_primitive_execute)              \
  X(dnnl_reorder_primitive_desc_create)  \
  X(dnnl_stream_create)                  \
  X(dnnl_stream_wait)                    \
  X(dnnl_version)
// NOLINTNEXTLINE(bugprone-macro-parentheses): what is declared
#define JOULEGRID_DECLARE(name) Pointer<decltype(::name)> name = nullptr;
  JOULEGRID_ONEDNN_FUNCTIONS(JOULEGRID_DECLARE)
#undef JOULEGRID_DECLARE
  // Of its OpenMP runtime.
  Pointer<int()> omp_get_thread_limit = nullptr;
  Pointer<void(int)> omp_set_dynamic = nullptr;
  Pointer<void(int)> omp_set_num_threads = nullptr;
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
};

void require(dnnl_status_t status, const char* call) {
  if (status == dnnl_success) return;
  const std::string text = std::string(call) + " of oneDNN fails with status " + std::to_string(static_cast<int>(status));
  if (status == dnnl_unimplemented) throw Error(ErrorCode::unavailable, text + ": not for this processor");
  throw Error(ErrorCode::system, text);
}

Library opened() {
  constexpr const char* file = "libdnnl.so.2";
  const auto loaded = SharedLibrary::open(file);
  if (!loaded) throw Error(ErrorCode::unavailable, loaded.fault().reason + "; the Debian package libdnnl2 has it", "oneDNN");
  // For good: its threads outlive any owner.
  static const std::shared_ptr<const SharedLibrary>* const shared = new std::shared_ptr<const SharedLibrary>(loaded.value());
  Library library;
  const auto find = [&](auto& function, const char* name) {
    function = (*shared)->function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (function == nullptr) throw Error(ErrorCode::unavailable, std::string(file) + " has no " + name, "oneDNN");
  };
#define JOULEGRID_FIND(name) find(library.name, #name);
  JOULEGRID_ONEDNN_FUNCTIONS(JOULEGRID_FIND)
#undef JOULEGRID_FIND
  find(library.omp_get_thread_limit, "omp_get_thread_limit");
  find(library.omp_set_dynamic, "omp_set_dynamic");
  find(library.omp_set_num_threads, "omp_set_num_threads");
  require(library.dnnl_engine_create(&library.engine, dnnl_cpu, 0), "dnnl_engine_create");
  require(library.dnnl_stream_create(&library.stream, library.engine, dnnl_stream_default_flags), "dnnl_stream_create");
  return library;
}

const Library& library() {
  static const Library the = opened();
  return the;
}

/// Throws Error(unavailable) where the library cannot have so many threads: it would compute nonsense with fewer.
void require_threads(unsigned threads) {
  check(threads > 0, "a product has a thread");
  const int limit = library().omp_get_thread_limit();
  if (limit > 0 && threads > static_cast<unsigned>(limit)) {
    throw Error(ErrorCode::unavailable, std::to_string(threads) + " threads are more than the " + std::to_string(limit) +
                                            " that OMP_THREAD_LIMIT of the environment allows");
  }
}

/// For what the calling thread asks of the library next.
void set_threads(unsigned threads) {
  library().omp_set_dynamic(0);
  library().omp_set_num_threads(static_cast<int>(threads));
}

/// A handle of the library with the function that ends it.
template <typename T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(dnnl_status_t (*destroy)(T)) : destroy_(destroy) {}
  ~Owned() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  T* out() { return &handle_; }
  T get() const { return handle_; }

 private:
  dnnl_status_t (*destroy_)(T) = nullptr;
  T handle_ = nullptr;
};

dnnl_data_type_t type_of(Type type) {
  switch (type) {
    case Type::f32: return dnnl_f32;
    case Type::bf16: return dnnl_bf16;
    case Type::u8: return dnnl_u8;
    case Type::s8: return dnnl_s8;
    case Type::s32: return dnnl_s32;
  }
  check(false, "every type has a name in the library");
  return dnnl_data_type_undef;
}

dnnl_memory_desc_t description(std::uint64_t rows, std::uint64_t columns, Type type, dnnl_format_tag_t tag) {
  const dnnl_dims_t dims = {static_cast<dnnl_dim_t>(rows), static_cast<dnnl_dim_t>(columns)};
  dnnl_memory_desc_t result{};
  require(library().dnnl_memory_desc_init_by_tag(&result, 2, dims, type_of(type), tag), "dnnl_memory_desc_init_by_tag");
  return result;
}

}  // namespace

struct Matmul::Parts {
  const Library& dnnl = library();
  GemmShape shape;
  Types types;
  unsigned threads;
  Owned<dnnl_primitive_desc_t> plan{dnnl.dnnl_primitive_desc_destroy};
  Owned<dnnl_primitive_t> primitive{dnnl.dnnl_primitive_destroy};
  Owned<dnnl_memory_t> a{dnnl.dnnl_memory_destroy};
  Owned<dnnl_memory_t> b{dnnl.dnnl_memory_destroy};
  Owned<dnnl_memory_t> c{dnnl.dnnl_memory_destroy};
  AlignedArray<std::uint8_t> packed_b;

  Parts(const GemmShape& the_shape, Types the_types, unsigned the_threads)
      : shape(the_shape), types(the_types), threads(the_threads) {
    require_threads(threads);
    set_threads(threads);  // the plan depends on it
    const dnnl_memory_desc_t a_plain = description(shape.m, shape.k, types.a, dnnl_ab);
    const dnnl_memory_desc_t b_any = description(shape.k, shape.n, types.b, dnnl_format_tag_any);
    const dnnl_memory_desc_t c_plain = description(shape.m, shape.n, types.c, dnnl_ab);
    dnnl_matmul_desc_t matmul{};
    require(dnnl.dnnl_matmul_desc_init(&matmul, &a_plain, &b_any, nullptr, &c_plain), "dnnl_matmul_desc_init");
    Owned<dnnl_primitive_attr_t> attributes(dnnl.dnnl_primitive_attr_destroy);
    require(dnnl.dnnl_primitive_attr_create(attributes.out()), "dnnl_primitive_attr_create");
    require(dnnl.dnnl_primitive_attr_set_fpmath_mode(attributes.get(), dnnl_fpmath_mode_strict),
            "dnnl_primitive_attr_set_fpmath_mode");
    require(dnnl.dnnl_primitive_desc_create(plan.out(), &matmul, attributes.get(), dnnl.engine, nullptr),
            "dnnl_primitive_desc_create");
    require(dnnl.dnnl_primitive_create(primitive.out(), plan.get()), "dnnl_primitive_create");
    packed_b = AlignedArray<std::uint8_t>(dnnl.dnnl_memory_desc_get_size(b_description()));
    require(dnnl.dnnl_memory_create(a.out(), &a_plain, dnnl.engine, DNNL_MEMORY_NONE), "dnnl_memory_create");
    require(dnnl.dnnl_memory_create(b.out(), b_description(), dnnl.engine, packed_b.data()), "dnnl_memory_create");
    require(dnnl.dnnl_memory_create(c.out(), &c_plain, dnnl.engine, DNNL_MEMORY_NONE), "dnnl_memory_create");
  }

  const dnnl_memory_desc_t* b_description() const {
    return dnnl.dnnl_primitive_desc_query_md(plan.get(), dnnl_query_weights_md, 0);
  }

  void pack(const void* plain) {
    set_threads(threads);
    const dnnl_memory_desc_t b_plain = description(shape.k, shape.n, types.b, dnnl_ab);
    Owned<dnnl_memory_t> from(dnnl.dnnl_memory_destroy);
    // The library only reads it.
    require(dnnl.dnnl_memory_create(from.out(), &b_plain, dnnl.engine, const_cast<void*>(plain)), "dnnl_memory_create");
    Owned<dnnl_primitive_desc_t> reorder_plan(dnnl.dnnl_primitive_desc_destroy);
    require(dnnl.dnnl_reorder_primitive_desc_create(reorder_plan.out(), &b_plain, dnnl.engine, b_description(), dnnl.engine,
                                                    nullptr),
            "dnnl_reorder_primitive_desc_create");
    Owned<dnnl_primitive_t> reorder(dnnl.dnnl_primitive_destroy);
    require(dnnl.dnnl_primitive_create(reorder.out(), reorder_plan.get()), "dnnl_primitive_create");
    const std::array<dnnl_exec_arg_t, 2> arguments{{{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, b.get()}}};
    require(dnnl.dnnl_primitive_execute(reorder.get(), dnnl.stream, arguments.size(), arguments.data()),
            "dnnl_primitive_execute");
    require(dnnl.dnnl_stream_wait(dnnl.stream), "dnnl_stream_wait");
  }

  dnnl_status_t multiply(const void* from, void* to) {
    set_threads(threads);
    dnnl_status_t status = dnnl.dnnl_memory_set_data_handle(a.get(), const_cast<void*>(from));
    if (status == dnnl_success) status = dnnl.dnnl_memory_set_data_handle(c.get(), to);
    const std::array<dnnl_exec_arg_t, 3> arguments{
        {{DNNL_ARG_SRC, a.get()}, {DNNL_ARG_WEIGHTS, b.get()}, {DNNL_ARG_DST, c.get()}}};
    if (status == dnnl_success) {
      status = dnnl.dnnl_primitive_execute(primitive.get(), dnnl.stream, arguments.size(), arguments.data());
    }
    return status == dnnl_success ? dnnl.dnnl_stream_wait(dnnl.stream) : status;
  }
};

Matmul::Matmul(const GemmShape& shape, Types types, unsigned threads) {
  parts_ = std::make_unique<Parts>(shape, types, threads);
}

Matmul::~Matmul() = default;

void Matmul::pack_b(const void* b) { parts_->pack(b); }

std::optional<Fault> Matmul::multiply(const void* a, void* c) {
  const dnnl_status_t status = parts_->multiply(a, c);
  if (status == dnnl_success) return std::nullopt;
  return Fault{FaultKind::work_failed, "oneDNN fails with status " + std::to_string(static_cast<int>(status))};
}

namespace {

dnnl_status_t multiply_int8(const GemmShape& shape, unsigned threads, const std::int8_t* a, const std::int8_t* b,
                            std::int32_t* c) {
  const Library& dnnl = library();
  set_threads(threads);
  const auto m = static_cast<dnnl_dim_t>(shape.m);
  const auto k = static_cast<dnnl_dim_t>(shape.k);
  const auto n = static_cast<dnnl_dim_t>(shape.n);
  const std::int32_t offset = 0;
  return dnnl.dnnl_gemm_s8s8s32('N', 'N', 'F', m, n, k, 1, a, k, 0, b, n, 0, 0, c, n, &offset);
}

/// Whether sums of int8 products are exact: without VNNI the library adds pairs of products in 16 bits.
bool sums_are_exact() {
  constexpr std::uint64_t size = 64;
  for (const int a : {-128, 127}) {
    for (const int b : {-128, 127}) {
      const std::vector<std::int8_t> as(size * size, static_cast<std::int8_t>(a));
      const std::vector<std::int8_t> bs(size * size, static_cast<std::int8_t>(b));
      std::vector<std::int32_t> c(size * size);
      require(multiply_int8({size, size, size}, 1, as.data(), bs.data(), c.data()), "dnnl_gemm_s8s8s32");
      if (c != std::vector<std::int32_t>(size * size, static_cast<int>(size) * a * b)) return false;
    }
  }
  return true;
}

}  // namespace

Int8Product::Int8Product(const GemmShape& shape, unsigned threads) : shape_(shape), threads_(threads) {
  require_threads(threads);
  static const bool exact = sums_are_exact();
  if (!exact) {
    throw Error(ErrorCode::unavailable, "oneDNN " + version() + " has no exact int8 product for this processor (" +
                                            instruction_set() + "): it lacks VNNI, and sums saturate");
  }
}

std::optional<Fault> Int8Product::multiply(const std::int8_t* a, const std::int8_t* b, std::int32_t* c) const {
  const dnnl_status_t status = multiply_int8(shape_, threads_, a, b, c);
  if (status == dnnl_success) return std::nullopt;
  return Fault{FaultKind::work_failed,
               "dnnl_gemm_s8s8s32 of oneDNN fails with status " + std::to_string(static_cast<int>(status))};
}

std::string Matmul::kernel() const {
  const char* name = nullptr;
  require(parts_->dnnl.dnnl_primitive_desc_query(parts_->plan.get(), dnnl_query_impl_info_str, 0, static_cast<void*>(&name)),
          "dnnl_primitive_desc_query");
  return name;
}

std::string version() {
  const dnnl_version_t& it = *library().dnnl_version();
  return std::to_string(it.major) + "." + std::to_string(it.minor) + "." + std::to_string(it.patch);
}

std::string instruction_set() {
  switch (library().dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    default: return "other";
  }
}

#else

namespace {

[[noreturn]] void missing() {
  throw Error(ErrorCode::unavailable,
              "this was built without oneDNN, whose header was missing (the Debian package libdnnl-dev)");
}

}  // namespace

struct Matmul::Parts {};

Matmul::Matmul(const GemmShape& /*shape*/, Types /*types*/, unsigned /*threads*/) { missing(); }
Matmul::~Matmul() = default;
void Matmul::pack_b(const void* /*b*/) { missing(); }
std::optional<Fault> Matmul::multiply(const void* /*a*/, void* /*c*/) { missing(); }
std::string Matmul::kernel() const { missing(); }
Int8Product::Int8Product(const GemmShape& /*shape*/, unsigned /*threads*/) { missing(); }
std::optional<Fault> Int8Product::multiply(const std::int8_t* /*a*/, const std::int8_t* /*b*/, std::int32_t* /*c*/) const {
  missing();
}
std::string version() { missing(); }
std::string instruction_set() { missing(); }

#endif

}  // namespace joulegrid::one_dnn
