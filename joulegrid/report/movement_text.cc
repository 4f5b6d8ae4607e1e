#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "joulegrid/report/movement_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr std::size_t most_layers_per_table = 8;

/// What the regions of a packing are summed up to.
struct RegionClass {
  const char* title;
  Role role;
  std::string_view overlay;  ///< of scratch only
};

constexpr std::array<RegionClass, 8> region_classes{{{"sa", Role::scratch, "sa"},
                                                     {"tmp", Role::scratch, "tmp"},
                                                     {"sb", Role::scratch, "sb"},
                                                     {"sc", Role::scratch, "sc"},
                                                     {"inputs", Role::input, ""},
                                                     {"activations", Role::activation, ""},
                                                     {"weights", Role::weight, ""},
                                                     {"outputs", Role::output, ""}}};

bool belongs(const PackedRegion& region, const RegionClass& to) {
  const std::string_view overlay = std::string_view(region.name).substr(0, region.name.find('['));
  return region.role == to.role && (to.overlay.empty() || to.overlay == overlay);
}

GridSteps steps_of(const Packing& packing, const RegionClass& region_class) {
  GridSteps steps;
  for (const PackedRegion& region : packing.regions) {
    if (belongs(region, region_class)) steps += region.steps;
  }
  return steps;
}

std::string heading(const MovementReport& report, const TextStyle& style) {
  const MovementSubject& subject = report.subject;
  std::vector<std::string> widths;
  for (const std::uint64_t width : subject.widths) widths.push_back(to_string(width));
  const std::string title = "Movement energy of one inference epoch: " + joined(widths, "-");
  const std::string subject_line =
      fmt::format("{} examples of {} MACs, {} per operand read and grid step", grouped(subject.examples),
                  si(report.epoch.macs_per_example(), ""), si(subject.scale.joules_per_step, "J"));
  return style.bold(shortened(title, text_width)) + "\n" + style.dim(subject_line) + "\n";
}

std::string batch_table(const MovementReport& report, const TextStyle& style) {
  using enum Table::Align;
  Table table({{"Batch"}, {"Calls"}, {"Energy"}, {"Of full"}, {"Steps/MAC"}, {"Steps/read"}, {"Best start", left}, {"Sweeps"}});
  for (const MovementCase& c : report.cases) {
    table.add_row({c.name(), grouped(c.epoch.calls()), si(report.subject.scale.joules(c.packing.steps).count(), "J", 5),
                   fmt::format("{:.3f}", rounded_quotient(c.packing.steps.count(), report.full->packing.steps.count())),
                   si(rounded_quotient(c.packing.steps.count(), c.epoch.macs()), ""),
                   si(rounded_quotient(c.packing.steps.count(), c.packing.charged_reads.count()), ""),
                   start_name(c.found.start), std::to_string(c.found.sweeps)});
  }
  return table.text(style);
}

std::string region_table(const MovementReport& report, const TextStyle& style) {
  std::vector<Table::Column> columns{{"Batch"}};
  for (const RegionClass& region_class : region_classes) columns.push_back({region_class.title});
  Table table(columns);
  for (const MovementCase& c : report.cases) {
    std::vector<std::string> row{c.name()};
    for (const RegionClass& region_class : region_classes) {
      row.push_back(percent(steps_of(c.packing, region_class), c.packing.steps));
    }
    table.add_row(row);
  }
  return table.text(style);
}

/// One column per layer, in as many tables as the width asks for; `add_rows` fills the rows for layers [first, last).
template <typename AddRows>
std::string layer_tables(const MovementReport& report, const TextStyle& style, const std::vector<Table::Column>& left_columns,
                         const AddRows& add_rows) {
  std::string text;
  const std::vector<std::uint64_t>& widths = report.subject.widths;
  for (std::size_t first = 0; first + 1 < widths.size();) {
    for (std::size_t count = std::min(most_layers_per_table, widths.size() - 1 - first);; --count) {
      std::vector<Table::Column> columns = left_columns;
      for (std::size_t layer = first; layer < first + count; ++layer) {
        columns.push_back({std::to_string(layer) + ": " + to_string(widths[layer]) + "→" + to_string(widths[layer + 1])});
      }
      Table table(columns);
      add_rows(table, first, first + count);
      if (count > 1 && table.natural_width() > text_width) continue;
      text += (first == 0 ? "" : "\n") + table.text(style);
      first += count;
      break;
    }
  }
  return text;
}

std::string layer_share_tables(const MovementReport& report, const TextStyle& style) {
  return layer_tables(report, style, {{"Batch"}}, [&](Table& table, std::size_t first, std::size_t last) {
    for (const MovementCase& c : report.cases) {
      std::vector<std::string> row{c.name()};
      for (std::size_t layer = first; layer < last; ++layer)
        row.push_back(percent(c.packing.layer_steps[layer], c.packing.steps));
      table.add_row(row);
    }
  });
}

std::string tile_tables(const MovementReport& report, const TextStyle& style) {
  return layer_tables(report, style, {{"Batch"}, {"Rows"}}, [&](Table& table, std::size_t first, std::size_t last) {
    for (const MovementCase& c : report.cases) {
      for (std::size_t group = 0; group < c.epoch.call_groups().size(); ++group) {
        std::vector<std::string> row{c.name(), to_string(c.epoch.call_groups()[group].rows)};
        for (std::size_t layer = first; layer < last; ++layer) {
          const Tile tile = c.found.tiles[group][layer];
          row.push_back(to_string(tile.i) + " × " + to_string(tile.j));
        }
        table.add_row(row);
      }
    }
  });
}

/// The answer in one line.
std::string verdict(const MovementReport& report, const TextStyle& style) {
  const auto least =
      std::min_element(report.cases.begin(), report.cases.end(),
                       [](const MovementCase& a, const MovementCase& b) { return a.packing.steps < b.packing.steps; });
  const EnergyScale& scale = report.subject.scale;
  std::string text = "Cheapest: " + style.accent(fmt::format("batch {}, {}", least->name(),
                                                             si(scale.joules(least->packing.steps).count(), "J", 5)));
  text += fmt::format(" for {} examples, {} each.\n", grouped(report.subject.examples),
                      si(scale.joules(least->packing.steps).count() / static_cast<double>(report.subject.examples), "J"));
  return text;
}

std::string projection_lines(const MovementReport& report, const TextStyle& style) {
  const Gemm& gemm = report.subject.reference;
  const MacCountProjection& projection = *report.projection;
  const std::string from = fmt::format("scaled from GEMM {} × {} × {}, {} with its best tile, {} × {}", to_string(gemm.m),
                                       to_string(gemm.k), to_string(gemm.n), si(projection.gemm.count(), "J", 5),
                                       to_string(projection.found.tile.i), to_string(projection.found.tile.j));
  return fmt::format("By MAC count alone, for any batch: {}\n", si(projection.epoch.count(), "J")) +
         style.dim(shortened(from, text_width)) + "\n";
}

std::string beyond_table(const MovementReport& report, const TextStyle& style) {
  Table table({{"Batch"}, {"Flat tiles"}, {"Nests"}, {"Of flat"}, {"Steps/MAC"}, {"Flat/floor"}, {"Nests/floor"}});
  const EnergyScale& scale = report.subject.scale;
  const auto ratio = [](GridSteps part, GridSteps whole) {
    return fmt::format("{:.3f}", rounded_quotient(part.count(), whole.count()));
  };
  for (const MovementCase& c : report.cases) {
    if (!c.nests) continue;
    const GridSteps flat = c.packing.steps;
    const GridSteps nests = c.nests->packing.steps;
    table.add_row({c.name(), si(scale.joules(flat).count(), "J", 5), si(scale.joules(nests).count(), "J", 5),
                   ratio(nests, flat), si(rounded_quotient(nests.count(), c.epoch.macs()), ""),
                   ratio(flat, report.floor->steps), ratio(nests, report.floor->steps)});
  }
  const NestSearchPlan& plan = *report.subject.beyond;
  return table.text(style) +
         style.dim(fmt::format("Seed {}, {} evaluations a batch. The floor, {}, holds for all classical schedules.", plan.seed,
                               grouped(plan.evaluations), si(scale.joules(report.floor->steps).count(), "J", 5))) +
         "\n";
}

}  // namespace

std::string movement_text(const MovementReport& report, const TextStyle& style) {
  std::string text = heading(report, style);
  if (!report.cases.empty()) {
    text += "\n" + style.bold("Energy by batch, best sa_cache tiles found") + "\n" + batch_table(report, style);
    text += "\n" + style.bold("Share of the energy, by region") + "\n" + region_table(report, style);
    text += "\n" + style.bold("Share of the energy, by layer") + "\n" + layer_share_tables(report, style);
    text += "\n" + style.bold("Tiles (rows × columns of C)") + "\n" + tile_tables(report, style);
    text += "\n" + verdict(report, style);
  }
  if (report.floor)
    text += "\n" + style.bold("Beyond flat tiles: loop nests with buffers at any depth") + "\n" + beyond_table(report, style) +
            "\n";
  if (report.projection) text += projection_lines(report, style);
  if (!report.complete) text += "\nInterrupted: only what was finished by then is shown.\n";
  return text;
}

}  // namespace joulegrid
