#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "joulegrid/report/energy_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr const char* unknown = "–";

/// "12.34 ± 0.05 mJ": the uncertainty has two significant digits, the value as many places.
std::string with_uncertainty(double value, const Measured<double>& half_width, std::string_view unit) {
  constexpr int significant = 2;
  constexpr int most_places = 9;
  if (!half_width || !std::isfinite(half_width.value())) return si(value, unit, 4);
  const double size = std::max(std::abs(value), half_width.value());
  if (size == 0) return si(value, unit, 4);
  static constexpr std::array<const char*, 9> prefixes{"p", "n", "µ", "m", "", "k", "M", "G", "T"};
  constexpr int without = 4;
  const int group = std::clamp(static_cast<int>(std::floor(std::log10(size) / 3)), -without, without);
  const double scale = std::pow(10.0, -3 * group);
  const double shown = half_width.value() * scale;
  const int places = shown > 0 ? std::clamp(significant - 1 - static_cast<int>(std::floor(std::log10(shown))), 0, most_places)
                               : most_places / 3;
  return fmt::format("{:.{}f} ± {:.{}f} {}{}", value * scale, places, shown, places,
                     prefixes[static_cast<std::size_t>(group + without)], unit);
}

Measured<double> half_width(const Measured<Uncertainty95>& uncertainty) {
  if (!uncertainty) return uncertainty.fault();
  return uncertainty.value().expanded;
}

std::string cell(const Measured<double>& value, const Measured<Uncertainty95>& uncertainty, std::string_view unit) {
  return value ? with_uncertainty(value.value(), half_width(uncertainty), unit) : unknown;
}

std::string cell(const Measured<double>& value, std::string_view unit) { return value ? si(value.value(), unit, 4) : unknown; }

std::string milliseconds(std::chrono::nanoseconds duration) {
  return si(std::chrono::duration<double>(duration).count(), "s", 3);
}

std::string counter_line(const Measurement& measurement) {
  const CounterDescription& counter = measurement.counter;
  if (counter.kind == CounterKind::none) return "none, so there are times but no energies: " + measurement.tick.fault().reason;
  std::string text = counter.name + ", " + scope_name(counter.scope);
  if (measurement.tick) {
    const Tick& tick = measurement.tick.value();
    text += ", changes every " + milliseconds(tick.median()) + " (" + milliseconds(tick.shortest()) + " to " +
            milliseconds(tick.longest()) + ") by multiples of " +
            si(static_cast<double>(tick.resolution.count()) * 1e-6, "J", 4);
  } else {
    text += "; no energies: " + measurement.tick.fault().reason;
  }
  return text;
}

/// The kinds of a stage's flags, each once.
std::string flag_names(const StageMeasurement& stage) {
  std::vector<std::string> names;
  for (const Flag& flag : stage.flags) {
    if (std::find(names.begin(), names.end(), flag_name(flag.kind)) == names.end()) names.emplace_back(flag_name(flag.kind));
  }
  return joined(names, ", ");
}

std::string stage_table(const EnergyReport& report, const TextStyle& style) {
  using enum Table::Align;
  const Measurement& measurement = report.measurement;
  const bool energies = measurement.counter.kind != CounterKind::none;
  const std::string per = " per " + report.subject.operation;
  std::vector<Table::Column> columns{{"Stage", left}, {"Repetitions"}, {"Time" + per}};
  if (energies) columns.insert(columns.end(), {{"Raw"}, {"Idle"}, {"Above idle" + per}});
  columns.push_back({"Flags", left});
  Table table(columns);
  for (const StageMeasurement& stage : measurement.stages) {
    std::vector<std::string> row{stage.name, grouped(stage.repetitions), cell(stage.seconds, stage.seconds_95, "s")};
    if (energies) {
      row.insert(row.end(), {cell(stage.raw_j, "J"), cell(stage.idle_w, "W"), cell(stage.adjusted_j, stage.adjusted_95, "J")});
    }
    row.push_back(flag_names(stage));
    table.add_row(std::move(row));
  }
  return table.text(style);
}

std::string flag_lines(const Measurement& measurement, const TextStyle& style) {
  std::string text;
  for (const StageMeasurement& stage : measurement.stages) {
    for (const Flag& flag : stage.flags) {
      text += wrapped(stage.name + ": " + flag_name(flag.kind) + ": " + flag.text, "  ! ", 4);
    }
  }
  return text.empty() ? text : "\n" + style.bold("Flags") + "\n" + text;
}

std::string comparison_lines(const EnergyReport& report, const TextStyle& style) {
  std::string text;
  const auto ratio = [](const Measured<Comparison::Figures>& figures, const char* what) {
    if (!figures) return std::string(what) + ": " + unknown + " (" + figures.fault().reason + ")";
    const Comparison::Figures& f = figures.value();
    // A difference within the interval is none that this measurement shows.
    const bool differs = std::abs(f.ratio - 1) > f.ratio_95;
    return std::string(what) + ": " + with_uncertainty(f.ratio, f.ratio_95, "") + "times" +
           (differs ? "" : ", no difference shown");
  };
  for (const Comparison& comparison : report.comparisons) {
    text += "\n" + style.bold(shortened(comparison.second + " against " + comparison.first, text_width)) + "\n";
    text += "  " + ratio(comparison.seconds, "time") + "\n";
    if (report.measurement.counter.kind != CounterKind::none)
      text += "  " + ratio(comparison.adjusted_j, "energy above idle") + "\n";
  }
  return text;
}

}  // namespace

std::string energy_text(const EnergyReport& report, const TextStyle& style) {
  const Measurement& measurement = report.measurement;
  const bool energies = measurement.counter.kind != CounterKind::none;
  std::string text =
      style.bold(energies ? "Energy per " + report.subject.operation : "Time per " + report.subject.operation) + "\n";
  text += wrapped(counter_line(measurement), "  counter    ", 13);
  const MeasurePlan& plan = measurement.plan;
  text += wrapped(fmt::format("{} trials of {:g} s{}, seed {}; ± is half a 95 % interval", plan.trials,
                              std::chrono::duration<double>(plan.trial_time).count(),
                              energies ? fmt::format(", each between idle windows of {:g} s",
                                                     std::chrono::duration<double>(plan.idle_time).count())
                                       : std::string(),
                              plan.seed),
                  "  protocol   ", 13);
  for (const std::string& note : measurement.counter.notes) text += wrapped(note, "  note       ", 13);
  text += "\n" + stage_table(report, style) + comparison_lines(report, style) + flag_lines(measurement, style);
  if (measurement.ended_early) {
    text += "\n" +
            wrapped("The run ended early (" + measurement.ended_early->reason + "); only finished trials are in it.", "  ", 2);
  }
  return text;
}

}  // namespace joulegrid
