#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "joulegrid/counter/fault.h"

namespace joulegrid {

/// What is measured: something that can be done over and over, always the same.
///
/// Buffers, warm libraries and whatever else it needs exist before the measurement begins and stay until it has ended, so that
/// the idle windows see them too.
class Stage {
 public:
  virtual ~Stage() = default;

  /// "fp16_tensor_core": the key in documents. Stages of one measurement have different names.
  virtual const std::string& name() const = 0;

  /// Begins so many repetitions; may return before they are done.
  virtual void enqueue(std::uint64_t repetitions) = 0;

  /// Returns when everything enqueued is done, with a fault where that failed: such a trial is reported, never averaged in.
  virtual std::optional<Fault> synchronise() = 0;

  /// One JSON object about the repetitions since the last call, which goes into documents and recordings as it is; empty for
  /// nothing.
  virtual std::string details() { return {}; }
};

/// A stage made of two callables: one that begins n repetitions, and one that waits for them.
std::unique_ptr<Stage> make_stage(std::string name, std::function<void(std::uint64_t)> enqueue,
                                  std::function<void()> synchronise);

/// A stage that calls `once` for every repetition, on the calling thread.
std::unique_ptr<Stage> make_stage(std::string name, std::function<void()> once);

}  // namespace joulegrid
