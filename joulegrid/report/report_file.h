#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// The work of a repetition, as far as a model knows it too: a GEMM's shape, or an epoch's widths, examples and batch.
struct WorkloadKey {
  std::vector<Wide> shape;  ///< M, K, N of a GEMM, or the widths of a network
  Wide examples = 0;        ///< 0 for a GEMM
  std::string batch;        ///< "full" or a number; empty for a GEMM

  friend auto operator<=>(const WorkloadKey&, const WorkloadKey&) = default;
};

/// A stage as an energy document has it; what is null there, or not in it, is nothing.
struct StageFigures {
  std::string section;
  std::string stage;
  std::string operation;  ///< what a repetition is
  std::optional<WorkloadKey> key;
  std::optional<Wide> macs;  ///< of a repetition, without padding
  std::optional<double> seconds, raw_j, idle_w, adjusted_j, uncertainty_95;
  std::vector<std::string> flags;
  std::string reason;  ///< why there is no energy, where the document says so
};

/// An energy document: one that `measure` or `report energy` has written, or a published one.
struct EnergyFile {
  std::string source;
  std::string machine;  ///< name of the GPU or processor; empty where the document does not know
  std::string date;
  std::vector<StageFigures> stages;
};

/// What a movement document says about one epoch batch; what is not in it is nothing.
struct ModelledEpoch {
  double flat_j = 0;
  std::optional<double> nest_j;
};

/// A movement document: one that `report movement` has written, or a published one.
struct MovementFile {
  std::string source;
  std::string date;
  std::map<WorkloadKey, ModelledEpoch> epochs;
  std::optional<double> epoch_floor_j;     ///< for any batch
  std::optional<WorkloadKey> gemm;         ///< the reference product ...
  std::optional<double> gemm_flat_j;       ///< ... and its price
  std::optional<double> joules_per_mac;    ///< the projection from the MAC count alone
  std::vector<std::string> omitted_terms;  ///< what the model leaves out, in words
};

using ReportFile = std::variant<EnergyFile, MovementFile>;

/// Reads a document and tells what it is by its content. Throws Error(bad_input, where = "source#/pointer", or source and line)
/// for anything else, a newer schema_version, or something missing that such a document has.
ReportFile parse_report_file(const std::string& text, const std::string& source);

/// One energy document of several: their sections side by side, and the stages of a section that several have. `texts` are
/// at least one document and its source each. Throws Error(bad_input) where they are of different machines or both have
/// a stage, or the section's facts differ.
struct NamedDocument {
  std::string source;
  std::string text;
};
std::string joined_energy_document(const std::vector<NamedDocument>& documents);

}  // namespace joulegrid
