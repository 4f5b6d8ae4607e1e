#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "joulegrid/measure/stage.h"
#include "joulegrid/workload/mlp.h"

namespace joulegrid {

struct CpuMlpOptions {
  unsigned threads = 1;
  bool vnni = true;  ///< where the machine has it and Highway chose AVX-512
};

/// A network with its examples, on the machine's processors.
///
/// Weights are packed, inputs stored and memory of all calls allocated by the constructor. The calls of an epoch are done one
/// after the other. In one of few rows all threads share each layer's outputs, and wait for each other after each layer; in
/// one of many (`shares_rows`), each takes portions of rows through all layers, so that values stay in its caches.
class CpuMlp {
 public:
  /// `rows`: examples × inputs. Keeps no reference.
  CpuMlp(const Mlp& network, std::span<const std::int8_t> rows, const CpuMlpOptions& options);
  ~CpuMlp();
  CpuMlp(const CpuMlp&) = delete;
  CpuMlp& operator=(const CpuMlp&) = delete;

  std::uint64_t examples() const;

  /// All examples through the network, `epochs` times, in calls of `batch` rows, 1 to examples(), the last one what is left.
  void run(std::uint64_t batch, std::uint64_t epochs);

  /// Examples × outputs: what the last run wrote, zeros before it.
  std::vector<std::int8_t> outputs() const;

  /// What each layer writes for all examples.
  std::vector<MlpLayerShares> layer_shares();

  /// How a call of so many rows is shared among the threads.
  bool shares_rows(std::uint64_t rows) const;

  /// "AVX3 with VNNI", "AVX2", …: Highway's names.
  std::string instruction_set() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// A stage whose repetition is one epoch in calls of `batch` rows. Stages may share a network.
std::unique_ptr<Stage> make_cpu_mlp_stage(std::string name, std::shared_ptr<CpuMlp> network, std::uint64_t batch);

}  // namespace joulegrid
