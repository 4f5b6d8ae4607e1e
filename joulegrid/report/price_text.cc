#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "joulegrid/grid/distance.h"
#include "joulegrid/report/price_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr std::size_t bar_width = 16;

std::string tile_text(Tile tile) { return to_string(tile.i) + " × " + to_string(tile.j); }

std::string title(const PriceReport& report) {
  if (const auto* gemm = std::get_if<Gemm>(&report.problem)) {
    const auto* tiles = std::get_if<EpochTiles>(&report.schedule);
    return fmt::format("GEMM {} × {} × {} (M × K × N), family {}{}", to_string(gemm->m), to_string(gemm->k), to_string(gemm->n),
                       family_name(report.schedule), tiles != nullptr ? ", tile " + tile_text((*tiles)[0][0]) : "");
  }
  const auto& epoch = std::get<Epoch>(report.problem);
  std::vector<std::string> calls;
  for (const CallGroup& group : epoch.call_groups()) calls.push_back(to_string(group.calls) + " × " + to_string(group.rows));
  return fmt::format("MLP epoch of {} examples, batch {} (calls × rows: {}), family {}", to_string(epoch.examples()),
                     to_string(epoch.batch()), joined(calls, ", "), family_name(report.schedule));
}

std::string widths_text(const Epoch& epoch) {
  std::vector<std::string> widths;
  for (const std::uint64_t width : epoch.widths()) widths.push_back(to_string(width));
  return joined(widths, "-");
}

std::string totals(const PriceReport& report, const TextStyle& style) {
  const Packing& packing = report.packing;
  const Wide macs = as_epoch(report.problem).macs();
  const auto per = [&](Wide of) { return si(rounded_quotient(packing.steps.count(), of), "") + " steps"; };
  std::string text;
  const auto line = [&](const char* name, const std::string& value, const std::string& remark) {
    text += fmt::format("  {:<16} {}{}\n", name, value, remark.empty() ? "" : "  " + style.dim(remark));
  };
  line("movement energy", style.accent(si(report.scale.joules(packing.steps).count(), "J", 6)),
       "at " + si(report.scale.joules_per_step, "J") + " per operand read and grid step");
  line("grid steps", grouped(packing.steps.count()), "");
  line("MACs", si(macs, ""), per(macs) + " each");
  line("charged reads", si(packing.charged_reads.count(), ""), per(packing.charged_reads.count()) + " each");
  line("floor", si(report.scale.joules(report.floor).count(), "J", 6),
       fmt::format("{:.3f} times the least that classical schedules can cost",
                   rounded_quotient(packing.steps.count(), report.floor.count())));
  return text;
}

/// The bars show shares of the largest row.
template <typename Rows, typename StepsOf>
GridSteps largest(const Rows& rows, const StepsOf& steps_of) {
  GridSteps most;
  for (const auto& row : rows) most = std::max(most, steps_of(row));
  return most;
}

/// The regions that cost most, by address; the others are summed up in one row.
std::string region_table(const PriceReport& report, const TextStyle& style) {
  constexpr std::size_t most_rows = 48;
  using enum Table::Align;
  const std::vector<PackedRegion>& regions = report.packing.regions;
  std::vector<std::size_t> shown(regions.size());
  std::iota(shown.begin(), shown.end(), 0);
  std::stable_sort(shown.begin(), shown.end(), [&](auto a, auto b) { return regions[a].steps > regions[b].steps; });
  const std::vector<std::size_t> others(shown.begin() + static_cast<std::ptrdiff_t>(std::min(most_rows, shown.size())),
                                        shown.end());
  shown.resize(shown.size() - others.size());
  std::sort(shown.begin(), shown.end());

  Table table({{"Region", left}, {"Cells"}, {"Reads/cell"}, {"Distance", left}, {"Energy"}, {"Share"}, {"", left, true}});
  const GridSteps most = largest(regions, [](const PackedRegion& region) { return region.steps; });
  const auto row = [&](const std::string& name, Wide cells, const std::string& reads, const std::string& where,
                       GridSteps steps) {
    table.add_row({name, si(cells, ""), reads, where, si(report.scale.joules(steps).count(), "J"),
                   percent(steps, report.packing.steps), bar(steps, most, bar_width)});
  };
  for (const std::size_t index : shown) {
    const PackedRegion& region = regions[index];
    const std::string nearest = si(distance(region.first_address), "");
    const std::string farthest = si(distance(region.last_address), "");
    row(region.name, region.cells, si(region.reads_per_cell, ""), nearest == farthest ? nearest : nearest + " to " + farthest,
        region.steps);
  }
  if (!others.empty()) {
    Wide cells = 0;
    GridSteps steps;
    for (const std::size_t index : others) {
      cells += regions[index].cells;
      steps += regions[index].steps;
    }
    row(std::to_string(others.size()) + " others", cells, "", "", steps);
  }
  return table.text(style);
}

std::string layer_table(const PriceReport& report, const TextStyle& style) {
  using enum Table::Align;
  const auto& epoch = std::get<Epoch>(report.problem);
  std::vector<Table::Column> columns{{"Layer"}, {"Widths", left}};
  const auto* tiles = std::get_if<EpochTiles>(&report.schedule);
  if (tiles != nullptr) {
    for (const CallGroup& group : epoch.call_groups()) columns.push_back({"Tile, " + to_string(group.rows) + " rows", left});
  }
  for (const Table::Column& column : std::vector<Table::Column>{{"Energy"}, {"Share"}, {"", left, true}})
    columns.push_back(column);
  Table table(columns);
  const GridSteps most = largest(report.packing.layer_steps, [](GridSteps steps) { return steps; });
  for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
    const GridSteps steps = report.packing.layer_steps[layer];
    std::vector<std::string> row{std::to_string(layer),
                                 to_string(epoch.widths()[layer]) + " → " + to_string(epoch.widths()[layer + 1])};
    if (tiles != nullptr) {
      for (const std::vector<Tile>& of_group : *tiles) row.push_back(tile_text(of_group[layer]));
    }
    row.push_back(si(report.scale.joules(steps).count(), "J"));
    row.push_back(percent(steps, report.packing.steps));
    row.push_back(bar(steps, most, bar_width));
    table.add_row(row);
  }
  return table.text(style);
}

/// The nests, as text that --nest and schedule files take.
std::string nest_lines(const PriceReport& report) {
  const auto* nests = std::get_if<EpochNests>(&report.schedule);
  if (nests == nullptr) return "";
  if (std::holds_alternative<Gemm>(report.problem)) return wrapped(to_string(nests->at(0).at(0)), "", 2);
  const auto& epoch = std::get<Epoch>(report.problem);
  std::string text;
  for (std::size_t group = 0; group < nests->size(); ++group) {
    text += "\nNests, calls of " + to_string(epoch.call_groups()[group].rows) + " rows\n";
    for (std::size_t layer = 0; layer < epoch.layers(); ++layer) {
      const std::string head = fmt::format("  {:>5}  ", layer);
      text += wrapped(to_string((*nests)[group][layer]), head, head.size());
    }
  }
  return text;
}

std::string nest_search_lines(const SearchFacts& facts) {
  const bool annealing = facts.nests->method == NestMethod::annealing;
  std::string text =
      fmt::format("Searched for {} in {} rounds {}; the same again: {} --evaluations {}\n", si(facts.seconds, "s", 3),
                  facts.nests->rounds, annealing ? "of annealing" : "of wider beams",
                  annealing ? "--seed " + to_string(facts.nests->seed) : "--method beam", to_string(facts.evaluations));
  if (!facts.complete) text += "Interrupted: a better schedule may be found in more time.\n";
  return text;
}

/// In percent, rounded up.
std::string proof_line(GridSteps steps, const ProofFacts& proof, const std::string& sizes) {
  if (proof.lower_bound == steps) return "Proven optimal over " + sizes + ".\n";
  const Wide bound = proof.lower_bound.count();
  const double gap = rounded_quotient(checked_sub(steps.count(), bound), bound);
  constexpr double units = 1e6;  // in 1: four digits of a percent
  const double rounded_up = std::ceil(std::nextafter(gap, std::numeric_limits<double>::infinity()) * units) / units;
  return fmt::format("At most {:.4f} % above the best of {}.\n", 100 * rounded_up, sizes);
}

std::string search_lines(GridSteps steps, const SearchFacts& facts) {
  if (facts.nests) return nest_search_lines(facts);
  const std::string sizes = facts.candidates == Candidates::divisors ? "all divisor tiles" : "all tile sizes";
  std::string text = fmt::format("Searched {} in {} with {} prices and bounds.\n", sizes, si(facts.seconds, "s", 3),
                                 grouped(facts.evaluations));
  if (facts.start) text += fmt::format("Best from {}, {} sweeps.\n", start_name(*facts.start), facts.sweeps);
  if (facts.proof) text += proof_line(steps, *facts.proof, sizes);
  if (!facts.complete) text += "Stopped early: a better schedule may exist.\n";
  return text;
}

}  // namespace

std::string price_text(const PriceReport& report, const TextStyle& style) {
  std::string text = style.bold(shortened(title(report), text_width)) + "\n";
  const bool is_epoch = std::holds_alternative<Epoch>(report.problem);
  if (is_epoch) text += style.dim(shortened("widths " + widths_text(std::get<Epoch>(report.problem)), text_width)) + "\n";
  if (!is_epoch) text += nest_lines(report);
  text += "\n" + totals(report, style) + "\n";
  if (is_epoch) text += layer_table(report, style) + "\n";
  text += region_table(report, style);
  if (is_epoch) text += nest_lines(report);
  if (report.search) text += "\n" + search_lines(report.packing.steps, *report.search);
  return text;
}

}  // namespace joulegrid
