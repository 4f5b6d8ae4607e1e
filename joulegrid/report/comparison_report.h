#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulegrid/report/report_file.h"
#include "joulegrid/report/text.h"

namespace joulegrid {

/// What the model says about a repetition; nothing where no movement document has it.
struct ModelledFigures {
  std::optional<double> flat_j;        ///< the best sa_cache tiles
  std::optional<double> nest_j;        ///< the best loop nests found
  std::optional<double> floor_j;       ///< no classical schedule costs less
  std::optional<double> projection_j;  ///< MACs times the reference product's energy per MAC
};

/// A workload as one energy document has it, beside the baseline's where there is one.
struct MeasuredFigures {
  StageFigures figures;
  std::optional<double> ratio_to_baseline;  ///< of the adjusted energies
  std::optional<bool> changed;              ///< whether they differ by more than both uncertainties together
};

/// One workload, measured and modelled.
struct ComparedWorkload {
  std::string name;  ///< "gemm_8192/int8_tensor_core"
  std::string operation;
  std::optional<Wide> macs;
  ModelledFigures modelled;
  std::vector<std::optional<MeasuredFigures>> measured;  ///< for each energy document
};

/// Documents side by side: what `report compare` says.
struct ComparisonReport {
  std::vector<EnergyFile> energy;  ///< the baseline first, where there is one
  std::vector<MovementFile> movement;
  bool has_baseline = false;
  std::vector<ComparedWorkload> workloads;
  std::vector<std::string> omitted_terms;  ///< what the model leaves out
};

/// Sets the documents side by side, by workload. Of several movement documents the first that has a workload tells of it.
/// With a baseline, that is one of the energy documents and the first one. Throws Error(bad_input) for no document.
ComparisonReport comparison_report(const std::vector<ReportFile>& files, const std::optional<EnergyFile>& baseline = {});

/// The JSON document, docs/formats.md.
std::string comparison_document(const ComparisonReport& report);

/// One line per workload and energy document, after a line of names.
std::string comparison_csv(const ComparisonReport& report);

/// The report as tables.
std::string comparison_text(const ComparisonReport& report, const TextStyle& style);

}  // namespace joulegrid
