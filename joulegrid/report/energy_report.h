#pragma once

#include <string>
#include <vector>

#include "joulegrid/measure/measurement.h"
#include "joulegrid/report/text.h"

namespace joulegrid {

/// A stage as documents tell of it.
struct StageSubject {
  std::string name;
  std::string facts = "{}";  ///< one JSON object, first in the stage: "semantics" and the like

  friend bool operator==(const StageSubject&, const StageSubject&) = default;
};

/// What was measured, and where: everything of an energy document that no reading tells. Recordings hold it as their session.
struct EnergySubject {
  std::string command;             ///< what `measure` was asked for: "gemm", "command"
  std::string section;             ///< its key in the document: "gemm_8192"
  std::string operation;           ///< what a repetition is, as in seconds_per_GEMM
  std::string facts = "{}";        ///< one JSON object: what was asked for; first in the section
  std::string environment = "{}";  ///< one JSON object: what did the work, such as versions of libraries; after the facts
  std::vector<StageSubject> stages;
  std::vector<std::string> excluded;  ///< what is in no figure, in words
  std::string timestamp_utc;          ///< "2026-09-02T04:41:15Z"
  std::string hardware;               ///< one JSON object
  std::string host;                   ///< one JSON object
  MeasurePlan plan;

  friend bool operator==(const EnergySubject&, const EnergySubject&) = default;
};

/// The subject as a recording's line, and back; throws Error(bad_input, where) for a line that is none.
std::string session_line(const EnergySubject& subject);
EnergySubject parse_session_line(const std::string& line, const std::string& where);

/// A measurement and what it is of: what `measure` says.
struct EnergyReport {
  EnergySubject subject;
  Measurement measurement;
  std::vector<Comparison> comparisons{};
};

/// The JSON document, docs/formats.md; docs/energy.schema.json is its schema.
std::string energy_document(const EnergyReport& report);

/// The report as tables, without the control characters that names of programs may have.
std::string energy_text(const EnergyReport& report, const TextStyle& style);

/// Now, as documents have it: "2026-09-02T04:41:15Z".
std::string timestamp_utc();

}  // namespace joulegrid
