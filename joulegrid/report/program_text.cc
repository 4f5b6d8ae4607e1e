#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "joulegrid/report/program_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr std::size_t bar_width = 16;

/// The reads from `nearest` to `farthest` grid steps away.
struct Ring {
  std::uint64_t nearest = 0;
  std::uint64_t farthest = 0;
  std::uint64_t reads = 0;
  GridSteps steps;
};

/// Distances 1, 2, 3 to 4, 5 to 8 and so on: each ring ends at a power of two. Rings without reads are left out.
std::vector<Ring> rings_of(const std::vector<ir::DistanceReads>& histogram) {
  std::vector<Ring> rings;
  for (const ir::DistanceReads& bin : histogram) {
    const std::uint64_t end = std::bit_ceil(bin.distance);
    if (rings.empty() || rings.back().farthest != end) rings.push_back({end / 2 + 1, end, 0, {}});
    rings.back().reads += bin.reads;
    rings.back().steps += GridSteps(checked_mul(bin.distance, bin.reads));
  }
  return rings;
}

std::string ring_table(const ir::Price& price, const TextStyle& style) {
  using enum Table::Align;
  Table table({{"Distance", left}, {"Reads"}, {"Grid steps"}, {"Share"}, {"", left, true}});
  const std::vector<Ring> rings = rings_of(price.histogram);
  GridSteps most;
  for (const Ring& ring : rings) most = std::max(most, ring.steps);
  for (const Ring& ring : rings) {
    const std::string farthest = grouped(ring.farthest);
    table.add_row({ring.nearest == ring.farthest ? farthest : grouped(ring.nearest) + " to " + farthest, grouped(ring.reads),
                   grouped(ring.steps.count()), percent(ring.steps, price.steps), bar(ring.steps, most, bar_width)});
  }
  return table.text(style);
}

std::string operation_table(const ir::Price& price, const TextStyle& style) {
  using enum Table::Align;
  Table table({{"Operation", left}, {"Instructions"}});
  for (std::size_t op = 0; op < ir::op_count; ++op) {
    if (price.instructions[op] != 0) table.add_row({std::string(ir::op_names[op]), grouped(price.instructions[op])});
  }
  return table.text(style);
}

}  // namespace

std::string failure_text(const ProgramFailure& failure, const std::string& program_name) {
  return fmt::format("{}:{}: {}: {} in instance {}", program_name, failure.line, failure.instruction,
                     ir::fault_name(failure.fault), failure.instance);
}

std::string program_text(const ir::Price& price, const TextStyle& style) {
  const std::uint64_t instructions = ir::instruction_count(price);
  std::string text = style.bold("Straight-line program of " + grouped(instructions) + " instructions") + "\n\n";
  text += fmt::format("  {:<16} {}\n", "grid steps", style.accent(grouped(price.steps.count())));
  text += fmt::format("  {:<16} {}  {}\n\n", "charged reads", grouped(price.charged_reads.count()),
                      style.dim(si(rounded_quotient(price.steps.count(), price.charged_reads.count()), "") + " steps each"));
  if (instructions != 0) text += operation_table(price, style) + "\n";
  return text + ring_table(price, style);
}

}  // namespace joulegrid
