#pragma once

#include <optional>
#include <string>

#include "joulegrid/base/stop.h"
#include "joulegrid/schedule/schedule.h"

namespace CLI {
class App;
}

namespace joulegrid::cli {

/// --tile, --nest, --schedule: a schedule of one GEMM, one of the three or none.
struct GemmScheduleOptions {
  std::string tile, schedule;
  std::optional<std::string> nest;

  void add_to(CLI::App& command);

  /// The schedule given, or the best divisor tile. Throws Error naming the option or the file at fault.
  Schedule of(const Gemm& gemm, const Stop* stop = nullptr) const;
};

}  // namespace joulegrid::cli
