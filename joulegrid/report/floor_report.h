#pragma once

#include <string>

#include "joulegrid/bound/floor.h"
#include "joulegrid/report/energy_scale.h"
#include "joulegrid/report/text.h"

namespace joulegrid {

/// The floor of one problem: what `floor` says.
struct FloorReport {
  Problem problem;
  Floor floor;
  EnergyScale scale;
};

/// Throws Error(overflow).
FloorReport floor_report(const Problem& problem, const EnergyScale& scale);

/// The JSON document, docs/formats.md.
std::string floor_document(const FloorReport& report);

/// The report as tables.
std::string floor_text(const FloorReport& report, const TextStyle& style);

}  // namespace joulegrid
