// The INT8 network against the int8 matrix product of oneDNN on the shapes of its layers, in turn in one process.
//
//   mlp_bench [THREADS [EXAMPLES [ROUNDS]]]      (all cores, 12000, 9)
//
// A round times, one after the other: one epoch at each batch here, and in oneDNN, for some numbers of rows per call, each
// layer alone in a loop that covers all examples, inputs u8, weights s8 packed beforehand, results s32 or u8 with ReLU. The
// library's figure of a row count is the sum over layers of the faster of the two. Printed are medians over rounds, and
// the medians of ratios within rounds. GOP/s count two operations for each multiply-accumulate of padded widths, on both sides.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "joulegrid/workload/cpu/mlp_cpu.h"
#include "joulegrid/workload/mlp.h"

#ifdef JOULEGRID_HAVE_DNNL
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace {

using joulegrid::CpuMlp;
using joulegrid::Mlp;

template <class Work>
double seconds_of(const Work& work) {
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // threads of the one before fall asleep
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

#ifdef JOULEGRID_HAVE_DNNL

/// One layer's product in calls of `rows` rows.
class LibraryLayer {
 public:
  LibraryLayer(const dnnl::engine& engine, std::uint64_t rows, std::uint64_t inputs, std::uint64_t outputs, bool relu) {
    using dt = dnnl::memory::data_type;
    using tag = dnnl::memory::format_tag;
    const auto m = static_cast<dnnl::memory::dim>(rows);
    const auto k = static_cast<dnnl::memory::dim>(inputs);
    const auto n = static_cast<dnnl::memory::dim>(outputs);
    const dnnl::memory::desc in({m, k}, dt::u8, tag::ab);
    const dnnl::memory::desc out({m, n}, relu ? dt::u8 : dt::s32, tag::ab);
    dnnl::primitive_attr attributes;
    if (relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(after);
    }
    const dnnl::matmul::primitive_desc description({in, dnnl::memory::desc({k, n}, dt::s8, tag::any), out}, attributes, engine);
    in_ = dnnl::memory(in, engine);
    weights_ = dnnl::memory(description.weights_desc(), engine);
    out_ = dnnl::memory(out, engine);
    fill(in_, 0, 128);
    fill(weights_, -128, 256);
    fill(out_, 0, 1);
    product_ = dnnl::matmul(description);
  }

  void run(dnnl::stream& stream) const {
    product_.execute(stream, {{DNNL_ARG_SRC, in_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, out_}});
  }

 private:
  static void fill(const dnnl::memory& memory, int least, int choices) {
    auto* const bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < memory.get_desc().get_size(); ++i) {
      state = state * 1664525 + 1013904223;
      bytes[i] = static_cast<unsigned char>(least + static_cast<int>(state >> 16U) % choices);
    }
  }

  dnnl::memory in_, weights_, out_;
  dnnl::matmul product_;
};

/// Seconds that the library needs for all layers of all examples, in calls of `rows` rows.
class Library {
 public:
  Library(const std::vector<std::uint64_t>& widths, std::uint64_t examples, std::uint64_t rows)
      : calls_(examples / rows), scale_(static_cast<double>(examples) / static_cast<double>(calls_ * rows)) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      layers_.push_back({LibraryLayer(engine_, rows, widths[i], widths[i + 1], false),
                         LibraryLayer(engine_, rows, widths[i], widths[i + 1], true)});
    }
  }

  double seconds() {
    double sum = 0;
    for (const auto& kinds : layers_) {
      std::vector<double> times;
      for (const LibraryLayer& layer : kinds) {
        times.push_back(seconds_of([&] {
          for (std::uint64_t i = 0; i < calls_; ++i) layer.run(stream_);
          stream_.wait();
        }));
      }
      sum += *std::min_element(times.begin(), times.end());
    }
    return sum * scale_;
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::uint64_t calls_;
  double scale_;
  std::vector<std::vector<LibraryLayer>> layers_;
};

#endif

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, unsigned long otherwise) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : otherwise;
  };
  const auto threads = static_cast<unsigned>(argument(1, std::max(1U, std::thread::hardware_concurrency())));
  const std::uint64_t examples = argument(2, 12'000);
  const std::uint64_t rounds = argument(3, 9);
  ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);

  const Mlp network{joulegrid::MlpOptions{}};
  const auto widths = network.padded_widths();
  CpuMlp mlp(network, joulegrid::synthetic_mlp_input(examples, network.inputs(), 1), {threads});
  const std::vector<std::uint64_t> batches{16, 60, 256, examples};
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> names;
  const auto note = [&](const std::string& name, double seconds) {
    if (times[name].empty()) names.push_back(name);
    times[name].push_back(seconds);
  };
#ifdef JOULEGRID_HAVE_DNNL
  std::map<std::uint64_t, Library> libraries;
  for (const std::uint64_t rows : {std::uint64_t{16}, std::uint64_t{256}, std::uint64_t{2048}, examples}) {
    libraries.try_emplace(rows, widths, examples, rows);
  }
#endif
  for (std::uint64_t round = 0; round <= rounds; ++round) {
    for (const std::uint64_t batch : batches) {
      const double seconds = seconds_of([&] { mlp.run(batch, 1); });
      if (round > 0) note("here, batch " + std::to_string(batch), seconds);
    }
#ifdef JOULEGRID_HAVE_DNNL
    std::vector<double> best;
    for (auto& [rows, library] : libraries) {
      const double seconds = library.seconds();
      if (round > 0) note("oneDNN, rows " + std::to_string(rows), seconds);
      best.push_back(seconds);
    }
    if (round > 0) note("oneDNN, best of these", *std::min_element(best.begin(), best.end()));
#endif
  }
  const auto macs = static_cast<double>(joulegrid::mlp_macs_per_row(widths)) * static_cast<double>(examples);
  std::printf("%s, %u threads, %llu examples, medians of %llu rounds\n", mlp.instruction_set().c_str(), threads,
              static_cast<unsigned long long>(examples), static_cast<unsigned long long>(rounds));
  for (const std::string& name : names) {
    const double seconds = median(times[name]);
    std::printf("%-28s %9.0f images/s %8.1f GOP/s", name.c_str(), static_cast<double>(examples) / seconds,
                2e-9 * macs / seconds);
    if (const auto best = times.find("oneDNN, best of these"); best != times.end()) {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < times[name].size(); ++i) ratios.push_back(best->second[i] / times[name][i]);
      std::printf("  %5.1f %% of oneDNN's best", 100 * median(ratios));
    }
    std::printf("\n");
  }
}
