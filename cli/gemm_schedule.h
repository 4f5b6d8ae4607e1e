#pragma once

#include <optional>
#include <string>

#include "joulegrid/schedule/schedule.h"

namespace CLI {
class App;
}

namespace joulegrid::cli {

/// --tile, --nest, --schedule: a schedule of one GEMM, by one of the three or by none.
struct GemmScheduleOptions {
  std::string tile, nest, schedule;

  void add_to(CLI::App& command);

  /// The schedule given, if any. Throws Error naming the option or the file at fault.
  std::optional<Schedule> given(const Gemm& gemm) const;
};

}  // namespace joulegrid::cli
