#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "joulegrid/report/floor_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr std::size_t bar_width = 16;

std::string title(const Problem& problem) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) {
    return fmt::format("Floor of GEMM {} × {} × {} (M × K × N)", to_string(gemm->m), to_string(gemm->k), to_string(gemm->n));
  }
  const auto& epoch = std::get<Epoch>(problem);
  std::vector<std::string> widths;
  for (const std::uint64_t width : epoch.widths()) widths.push_back(to_string(width));
  return fmt::format("Floor of an MLP epoch of {} examples, any batch, widths {}", to_string(epoch.examples()),
                     joined(widths, "-"));
}

std::string totals(const FloorReport& report, const TextStyle& style) {
  const GridSteps steps = report.floor.steps;
  const Wide macs = as_epoch(report.problem).macs();
  std::string text;
  const auto line = [&](const char* name, const std::string& value, const std::string& remark) {
    text += fmt::format("  {:<16} {}{}\n", name, value, remark.empty() ? "" : "  " + style.dim(remark));
  };
  line("least energy", style.accent(si(report.scale.joules(steps).count(), "J", 6)),
       "at " + si(report.scale.joules_per_step, "J") + " per operand read and grid step");
  line("grid steps", grouped(steps.count()), "");
  line("MACs", si(macs, ""), si(rounded_quotient(steps.count(), macs), "") + " steps each");
  line("proven by", theorem_name(report.floor.theorem), "docs/floor.md");
  return text;
}

/// Radii first .. last, where the reads that are bound to lie beyond them are counted together.
struct Octave {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Reads beyond_first;
  GridSteps steps;
  FloorTheorem theorem = FloorTheorem::every_read;
};

/// Radius 0, radius 1, radii 2 and 3, 4 to 7, and so on.
std::vector<Octave> octaves(const Floor& floor) {
  std::vector<Octave> octaves;
  for (const FloorLevel& level : floor.levels) {
    if (octaves.empty() || std::bit_width(octaves.back().first) != std::bit_width(level.last_radius)) {
      octaves.push_back({level.last_radius + 1 - level.radii, 0, level.slow_reads, {}, level.theorem});
    }
    octaves.back().last = level.last_radius;
    octaves.back().steps += GridSteps(checked_mul(level.radii, level.slow_reads.count()));
  }
  return octaves;
}

std::string level_table(const FloorReport& report, const TextStyle& style) {
  using enum Table::Align;
  const Floor& floor = report.floor;
  Table table({{"Radii"}, {"Reads beyond"}, {"Energy"}, {"Share"}, {"", left}, {"By", left}});
  const std::vector<Octave> rows = octaves(floor);
  GridSteps most;
  for (const Octave& row : rows) most = std::max(most, row.steps);
  const auto add = [&](const std::string& radii, Reads beyond, GridSteps steps, FloorTheorem theorem) {
    const std::string name = theorem_name(theorem);
    table.add_row({radii, si(beyond.count(), ""), si(report.scale.joules(steps).count(), "J"), percent(steps, floor.steps),
                   bar(steps, most, bar_width), name.substr(0, name.find(':'))});
  };
  for (const Octave& row : rows) {
    add(row.first == row.last ? to_string(row.first) : to_string(row.first) + " to " + to_string(row.last), row.beyond_first,
        row.steps, row.theorem);
  }
  if (floor.joint.reads.count() > 0) {
    add("0 and " + to_string(floor.joint.radius), floor.joint.reads, GridSteps(floor.joint.reads.count()),
        FloorTheorem::copies);
  }
  return table.text(style);
}

}  // namespace

std::string floor_text(const FloorReport& report, const TextStyle& style) {
  return style.bold(shortened(title(report.problem), text_width)) + "\n" +
         style.dim("No classical schedule costs less: none that forms each product once and joins sums.") + "\n\n" +
         totals(report, style) + "\n" + level_table(report, style);
}

}  // namespace joulegrid
