#include "cli/gemm_schedule.h"

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "joulegrid/base/file.h"
#include "joulegrid/schedule/schedule_file.h"

namespace joulegrid::cli {

void GemmScheduleOptions::add_to(CLI::App& command) {
  CLI::Option* of_tile = command.add_option("--tile", tile, "rows and columns of a C tile; without it, the best divisor tile");
  of_tile->type_name("I,J");
  CLI::Option* of_nest = command.add_option("--nest", nest, "a loop nest with buffers, like 'm2 n4 [C] k16 [B] m8 [A] n4'");
  of_nest->type_name("NEST");
  CLI::Option* of_schedule =
      command.add_option("--schedule", schedule, "the schedule in this file, as `search --save` writes it");
  of_schedule->type_name("FILE");
  of_tile->excludes(of_schedule);
  of_nest->excludes(of_schedule)->excludes(of_tile);
}

std::optional<Schedule> GemmScheduleOptions::given(const Gemm& gemm) const {
  if (!schedule.empty()) return read_schedule(read_file(schedule), schedule, gemm);
  if (!nest.empty()) return EpochNests{{parse_nest(nest, "--nest", gemm)}};
  if (tile.empty()) return std::nullopt;
  const Tile given = parse_tile(tile, "--tile");
  require_fit(gemm, given, "--tile");
  return EpochTiles{{given}};
}

}  // namespace joulegrid::cli
