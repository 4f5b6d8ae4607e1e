#pragma once

#include <string>
#include <vector>

#include "joulegrid/base/stop.h"
#include "joulegrid/counter/found_counter.h"
#include "joulegrid/counter/tick.h"
#include "joulegrid/report/text.h"

namespace joulegrid {

/// Every energy counter that was looked for: what `counters` says.
struct CountersReport {
  struct Entry {
    CounterDescription description;
    Measured<Tick> tick;              ///< the reason where the counter is missing, too
    std::optional<Fault> no_counter;  ///< why there is none
  };

  std::vector<Entry> counters;
  bool complete = true;  ///< false where the stop left out a tick
};

/// Measures the ticks of the counters that are there, one after the other; once `stop` asks, no more of them.
CountersReport counters_report(const std::vector<FoundCounter>& found, TimeSource& time, const TickOptions& options = {},
                               const Stop* stop = nullptr);

/// The JSON document, docs/formats.md.
std::string counters_document(const CountersReport& report);

/// The report as tables.
std::string counters_text(const CountersReport& report, const TextStyle& style);

}  // namespace joulegrid
