#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "joulegrid/base/quote.h"
#include "joulegrid/report/energy_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

constexpr const char* unknown = "–";

/// si for a value that noise may have made negative.
std::string signed_si(double value, std::string_view unit, int digits = 4) {
  return (value < 0 ? "-" : "") + si(std::abs(value), unit, digits);
}

/// Decimal places that show two significant digits of an uncertainty.
int places_of(double half_width) {
  constexpr int most = 9;
  constexpr int usual = 3;
  return half_width > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, most) : usual;
}

/// "12.34 ± 0.05": the uncertainty has two significant digits, the value as many places.
std::string with_uncertainty(double value, double half_width) {
  const int places = places_of(half_width);
  return fmt::format("{:.{}f} ± {:.{}f}", value, places, half_width, places);
}

/// The same with a unit and the SI prefix that suits the value.
std::string with_uncertainty(double value, const Measured<double>& half_width, std::string_view unit) {
  static constexpr std::array<const char*, 9> prefixes{"p", "n", "µ", "m", "", "k", "M", "G", "T"};
  constexpr int without = 4;
  const double size = half_width ? std::max(std::abs(value), half_width.value()) : 0;
  if (size == 0 || !std::isfinite(size)) return signed_si(value, unit);
  const int group = std::clamp(static_cast<int>(std::floor(std::log10(size) / 3)), -without, without);
  const int place = group + without;
  const double scale = std::pow(10.0, -3 * group);
  return with_uncertainty(value * scale, half_width.value() * scale) + " " + prefixes[static_cast<std::size_t>(place)] +
         std::string(unit);
}

Measured<double> half_width(const Measured<Uncertainty95>& uncertainty) {
  if (!uncertainty) return uncertainty.fault();
  return uncertainty.value().expanded;
}

std::string cell(const Measured<double>& value, const Measured<Uncertainty95>& uncertainty, std::string_view unit) {
  return value ? with_uncertainty(value.value(), half_width(uncertainty), unit) : unknown;
}

std::string cell(const Measured<double>& value, std::string_view unit) {
  return value ? signed_si(value.value(), unit) : unknown;
}

std::string milliseconds(std::chrono::nanoseconds duration) {
  return si(std::chrono::duration<double>(duration).count(), "s", 3);
}

std::string counter_line(const Measurement& measurement) {
  const CounterDescription& counter = measurement.counter;
  if (counter.kind == CounterKind::none) {
    const bool asked = measurement.tick.fault().kind == FaultKind::not_asked;
    return asked ? "none, as asked for: times but no energies"
                 : "none was found, so there are times but no energies; `joulegrid counters` says why";
  }
  std::string text = printable(counter.name) + ", " + scope_name(counter.scope);
  if (measurement.tick) {
    const Tick& tick = measurement.tick.value();
    text += ", changes every " + milliseconds(tick.median()) + " (" + milliseconds(tick.shortest()) + " to " +
            milliseconds(tick.longest()) + ") by multiples of " +
            si(static_cast<double>(tick.resolution.count()) * 1e-6, "J", 4);
  } else {
    text += "; no energies: " + printable(measurement.tick.fault().reason);
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
    std::vector<std::string> row{printable(stage.name), grouped(stage.repetitions), cell(stage.seconds, stage.seconds_95, "s")};
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
      text += wrapped(printable(stage.name + ": " + flag_name(flag.kind) + ": " + flag.text), "  ! ", 4);
    }
  }
  return text.empty() ? text : "\n" + style.bold("Flags") + "\n" + text;
}

std::string comparison_lines(const EnergyReport& report, const TextStyle& style) {
  std::string text;
  const auto ratio = [](const Measured<Comparison::Figures>& figures, const char* what) {
    if (!figures) return std::string(what) + ": " + unknown + " (" + printable(figures.fault().reason) + ")";
    const Comparison::Figures& f = figures.value();
    // A difference within the interval is none that this measurement shows.
    const bool differs = std::abs(f.ratio - 1) > f.ratio_95;
    return std::string(what) + ": " + with_uncertainty(f.ratio, f.ratio_95) + " times" +
           (differs ? "" : ", no difference shown");
  };
  for (const Comparison& comparison : report.comparisons) {
    text += "\n" + style.bold(shortened(printable(comparison.second + " against " + comparison.first), text_width)) + "\n";
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
  for (const std::string& note : measurement.counter.notes) text += wrapped(printable(note), "  note       ", 13);
  text += "\n" + stage_table(report, style) + comparison_lines(report, style) + flag_lines(measurement, style);
  if (measurement.ended_early) {
    text += "\n" +
            wrapped("The run ended early (" + printable(measurement.ended_early->reason) + "); only finished trials are in it.",
                    "  ", 2);
  }
  return text;
}

}  // namespace joulegrid
