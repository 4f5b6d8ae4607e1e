#include <fmt/format.h>

#include <cmath>

#include "joulegrid/report/comparison_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr const char* absent = "–";

std::string signed_si(double value, std::string_view unit, int digits = 4) {
  return (value < 0 ? "-" : "") + si(std::abs(value), unit, digits);
}

std::string joules(const std::optional<double>& value) { return value ? signed_si(*value, "J") : absent; }

std::string times(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *b != 0 ? fmt::format("{:.2f}", *a / *b) : absent;
}

std::string per_mac(const std::optional<double>& value, const std::optional<Wide>& macs) {
  return value && macs && *macs != 0 ? signed_si(*value / static_cast<double>(*macs), "J", 3) : absent;
}

/// "A", "B", …, "Z", "AA", …
std::string letter(std::size_t index) {
  std::string text;
  for (std::size_t left = index + 1; left > 0; left = (left - 1) / 26)
    text.insert(text.begin(), static_cast<char>('A' + (left - 1) % 26));
  return text;
}

std::string sources(const ComparisonReport& report, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < report.energy.size(); ++i) {
    const EnergyFile& file = report.energy[i];
    text += wrapped(fmt::format("{}{}, {}, {}", report.has_baseline && i == 0 ? "baseline: " : "",
                                file.machine.empty() ? "unknown machine" : file.machine, file.date, file.source),
                    "  " + letter(i) + "  ", 5);
  }
  for (const MovementFile& file : report.movement) text += wrapped("model, " + file.date + ", " + file.source, "     ", 5);
  return text +
         style.dim("  Energies are per repetition; measured ones above idle, ± half a 95 % interval where it is stated.") +
         "\n";
}

/// "section/stage" in its parts.
std::string section_of(const ComparedWorkload& workload) { return workload.name.substr(0, workload.name.find('/')); }
std::string stage_of(const ComparedWorkload& workload) { return workload.name.substr(workload.name.find('/') + 1); }

/// A line with the section's name before the first of its workloads.
class Sections {
 public:
  explicit Sections(std::size_t columns) : columns_(columns) {}

  void begin(Table& table, const ComparedWorkload& workload) {
    if (section_of(workload) == last_) return;
    last_ = section_of(workload);
    std::vector<std::string> row(columns_);
    row[0] = last_;
    table.add_row(std::move(row));
  }

 private:
  std::size_t columns_;
  std::string last_;
};

std::string measured_cell(const std::optional<MeasuredFigures>& measured) {
  if (!measured || !measured->figures.adjusted_j) return absent;
  const StageFigures& figures = measured->figures;
  std::string text = joules(figures.adjusted_j);
  if (figures.uncertainty_95) text += " ± " + signed_si(*figures.uncertainty_95, "J", 2);
  if (measured->ratio_to_baseline) {
    constexpr double percent = 100;
    text += fmt::format(" ({:+.1f} %{})", (*measured->ratio_to_baseline - 1) * percent,
                        !measured->changed   ? " ?"
                        : *measured->changed ? " *"
                                             : "");
  }
  return text;
}

/// One column per energy document.
std::string measured_table(const ComparisonReport& report, const TextStyle& style) {
  using enum Table::Align;
  std::vector<Table::Column> columns{{"Workload", left}};
  for (std::size_t i = 0; i < report.energy.size(); ++i) columns.push_back({letter(i) + ", measured"});
  Table table(columns);
  Sections sections(columns.size());
  for (const ComparedWorkload& workload : report.workloads) {
    sections.begin(table, workload);
    std::vector<std::string> row{"  " + stage_of(workload)};
    for (const auto& measured : workload.measured) row.push_back(measured_cell(measured));
    table.add_row(std::move(row));
  }
  std::string text = table.text(style);
  if (report.has_baseline) {
    text +=
        style.dim("  * differs from the baseline by more than both uncertainties together; ? an uncertainty is not stated") +
        "\n";
  }
  return text;
}

/// What the model says, and how many times that was measured.
std::string model_table(const ComparisonReport& report, const TextStyle& style) {
  using enum Table::Align;
  Table table({{"Workload", left}, {"Raw"}, {"Above idle"}, {"/ MAC"}, {"Flat"}, {"×"}, {"Nest"}, {"×"}, {"Floor"}, {"×"}});
  Sections sections(10);
  for (const ComparedWorkload& workload : report.workloads) {
    sections.begin(table, workload);
    const ModelledFigures& modelled = workload.modelled;
    for (std::size_t i = 0; i < report.energy.size(); ++i) {
      if (!workload.measured[i]) continue;
      const std::optional<double>& adjusted = workload.measured[i]->figures.adjusted_j;
      table.add_row({(report.energy.size() > 1 ? "  " + letter(i) + " " : "  ") + stage_of(workload),
                     joules(workload.measured[i]->figures.raw_j), joules(adjusted), per_mac(adjusted, workload.macs),
                     joules(modelled.flat_j), times(adjusted, modelled.flat_j), joules(modelled.nest_j),
                     times(adjusted, modelled.nest_j), joules(modelled.floor_j), times(adjusted, modelled.floor_j)});
    }
  }
  return table.text(style);
}

/// What the number of MACs alone would cost, once for each section.
std::string projections(const ComparisonReport& report) {
  std::string text;
  std::string last;
  for (const ComparedWorkload& workload : report.workloads) {
    if (!workload.modelled.projection_j || section_of(workload) == last) continue;
    last = section_of(workload);
    text += wrapped(last + ": " + joules(workload.modelled.projection_j) + " by the MAC count alone, at " +
                        per_mac(workload.modelled.projection_j, workload.macs) + " each as in the model's reference product",
                    "  ", 4);
  }
  return text.empty() ? text : "\n" + text;
}

std::string notes(const ComparisonReport& report, const TextStyle& style) {
  std::string text;
  const auto lacks = [&](auto member) {
    for (const ComparedWorkload& workload : report.workloads) {
      if (workload.modelled.flat_j && !(workload.modelled.*member)) return true;
    }
    return false;
  };
  if (lacks(&ModelledFigures::nest_j) || lacks(&ModelledFigures::floor_j)) {
    text +=
        "\n" + wrapped("– under Nest or Floor: not in the document; `report movement --beyond` has both for epochs.", "  ", 2);
  }
  text += projections(report);
  for (const ComparedWorkload& workload : report.workloads) {
    for (std::size_t i = 0; i < report.energy.size(); ++i) {
      if (!workload.measured[i]) continue;
      const StageFigures& figures = workload.measured[i]->figures;
      const std::string who = letter(i) + " " + workload.name + ": ";
      if (!figures.adjusted_j && !figures.reason.empty()) text += wrapped(who + "no energy: " + figures.reason, "  ! ", 4);
      if (!figures.flags.empty()) text += wrapped(who + "flags: " + joined(figures.flags, ", "), "  ! ", 4);
    }
  }
  if (!report.omitted_terms.empty()) {
    text += "\n" + style.bold("The model leaves out") + "\n";
    for (const std::string& term : report.omitted_terms) text += wrapped(term, "  - ", 4);
  }
  return text;
}

}  // namespace

std::string comparison_text(const ComparisonReport& report, const TextStyle& style) {
  std::string text = style.bold("Measured and modelled") + "\n" + sources(report, style) + "\n";
  if (report.energy.size() > 1) text += measured_table(report, style) + "\n";
  if (!report.movement.empty() || report.energy.size() == 1) text += model_table(report, style);
  return text + notes(report, style);
}

}  // namespace joulegrid
