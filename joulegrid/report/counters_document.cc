#include "joulegrid/base/json.h"
#include "joulegrid/report/counters_report.h"

namespace joulegrid {

namespace {

constexpr int counters_schema_version = 1;

double milliseconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json fault_json(const Fault& fault) {
  Json json;
  json["fault"] = fault_name(fault.kind);
  json["text"] = fault.reason;
  return json;
}

Json device_json(const DeviceIdentity& device) {
  if (device.uuid.empty() && !device.pci && device.name.empty()) return {};
  Json json;
  json["uuid"] = text_or_null(device.uuid);
  json["pci"] = device.pci ? Json(to_string(*device.pci)) : Json();
  json["name"] = text_or_null(device.name);
  return json;
}

Json tick_json(const Tick& tick) {
  Json json;
  json["shortest"] = milliseconds(tick.shortest());
  json["median"] = milliseconds(tick.median());
  json["longest"] = milliseconds(tick.longest());
  return json;
}

Json counter_json(const CountersReport::Entry& entry) {
  const CounterDescription& is = entry.description;
  Json json;
  json["name"] = is.name;
  json["kind"] = kind_name(is.kind);
  json["available"] = !entry.no_counter;
  json["reason"] = entry.no_counter ? fault_json(*entry.no_counter) : Json();
  json["scope"] = scope_name(is.scope);
  json["includes"] = is.includes;
  json["unit"] = text_or_null(is.unit);
  json["resolution_uJ"] = entry.tick ? Json(entry.tick.value().resolution.count()) : Json();
  json["tick_ms"] = entry.tick ? tick_json(entry.tick.value()) : Json();
  json["tick_reason"] = entry.tick ? Json() : fault_json(entry.tick.fault());
  json["longest_gap_ms"] = is.longest_gap ? Json(milliseconds(*is.longest_gap)) : Json();
  json["device"] = device_json(is.device);
  json["driver"] = text_or_null(is.driver);
  json["notes"] = is.notes;
  return json;
}

}  // namespace

CountersReport counters_report(const std::vector<FoundCounter>& found, TimeSource& time, const TickOptions& options,
                               const Stop* stop) {
  CountersReport report;
  for (const FoundCounter& one : found) {
    if (!one.counter) {
      report.counters.push_back({one.description, one.counter.fault(), one.counter.fault()});
      continue;
    }
    Measured<Tick> tick = Fault{FaultKind::not_asked, "interrupted before it was measured"};
    if (stop != nullptr && stop->requested()) {
      report.complete = false;
    } else {
      tick = measure_tick(*one.counter.value(), time, options);
    }
    report.counters.push_back({one.description, std::move(tick), std::nullopt});
  }
  return report;
}

std::string counters_document(const CountersReport& report) {
  Json json;
  json["schema_version"] = counters_schema_version;
  Json& counters = json["counters"] = Json::array();
  for (const CountersReport::Entry& entry : report.counters) counters.push_back(counter_json(entry));
  if (!report.complete) json["interrupted"] = true;
  return json_text(json);
}

}  // namespace joulegrid
