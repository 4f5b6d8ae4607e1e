#include <fmt/format.h>

#include "joulegrid/report/counters_report.h"
#include "joulegrid/report/table.h"

namespace joulegrid {

namespace {

using Entry = CountersReport::Entry;

constexpr double joules_per_microjoule = 1e-6;

std::string seconds(std::chrono::nanoseconds duration) { return si(std::chrono::duration<double>(duration).count(), "s", 3); }

std::string ticks(const std::vector<Entry>& counters, const TextStyle& style) {
  using enum Table::Align;
  Table table({{"Counter", left}, {"Tick"}, {"Shortest"}, {"Longest"}, {"Resolution"}});
  for (const Entry& entry : counters) {
    if (entry.no_counter) continue;
    if (!entry.tick) {
      table.add_row({entry.description.name, "–", "–", "–", "–"});
      continue;
    }
    const Tick& tick = entry.tick.value();
    table.add_row({entry.description.name, seconds(tick.median()), seconds(tick.shortest()), seconds(tick.longest()),
                   si(static_cast<double>(tick.resolution.count()) * joules_per_microjoule, "J", 3)});
  }
  return table.text(style);
}

/// "NVIDIA A100 at 0000:65:00.0".
std::string device_text(const DeviceIdentity& device) {
  std::string text = device.name;
  if (device.pci) text += (text.empty() ? "at " : " at ") + to_string(*device.pci);
  return text;
}

/// What somebody who uses the counter should know, a line each.
std::string details(const Entry& entry, const TextStyle& style) {
  constexpr std::size_t indent = 6;
  const CounterDescription& is = entry.description;
  std::string text = "  " + style.bold(is.name) + "\n";
  const auto line = [&](const std::string& words) { text += wrapped(words, "    ", indent); };
  line(fmt::format("{}, counted in units of {}", scope_name(is.scope), is.unit));
  for (const std::string& part : is.includes) line("includes " + part);
  if (const std::string device = device_text(is.device); !device.empty()) line("device: " + device);
  if (!is.driver.empty()) line("driver: " + is.driver);
  if (is.longest_gap) line("wraps: read it at least every " + seconds(*is.longest_gap));
  if (!entry.tick) line(fmt::format("tick: {} ({})", entry.tick.fault().reason, fault_name(entry.tick.fault().kind)));
  for (const std::string& note : is.notes) line("note: " + note);
  return text;
}

}  // namespace

std::string counters_text(const CountersReport& report, const TextStyle& style) {
  std::string found;
  std::string missing;
  std::size_t count = 0;
  for (const Entry& entry : report.counters) {
    if (!entry.no_counter) {
      ++count;
      found += details(entry, style);
      continue;
    }
    const std::string reason = fmt::format("{} ({})", entry.no_counter->reason, fault_name(entry.no_counter->kind));
    missing += "  " + style.bold(entry.description.name) + "\n" + wrapped(reason, "    ", 4);
  }
  std::string text = style.bold(fmt::format("Energy counters: {} of {} found", count, report.counters.size())) + "\n\n";
  if (count > 0) text += ticks(report.counters, style) + "\n" + found;
  if (count > 0 && !missing.empty()) text += "\n";
  if (!missing.empty()) text += style.bold("Not found") + "\n" + missing;
  return text;
}

}  // namespace joulegrid
