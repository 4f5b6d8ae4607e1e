#include "joulegrid/report/comparison_report.h"

#include <algorithm>
#include <cmath>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

ComparedWorkload& workload_of(ComparisonReport& report, const StageFigures& stage) {
  const std::string name = stage.section + "/" + stage.stage;
  const auto known = std::find_if(report.workloads.begin(), report.workloads.end(), [&](const ComparedWorkload& one) {
    return one.name == name && one.operation == stage.operation && one.macs == stage.macs;
  });
  if (known != report.workloads.end()) return *known;
  ComparedWorkload workload;
  workload.name = name;
  workload.operation = stage.operation;
  workload.macs = stage.macs;
  workload.measured.resize(report.energy.size());
  report.workloads.push_back(std::move(workload));
  return report.workloads.back();
}

ModelledFigures modelled(const std::vector<MovementFile>& movement, const StageFigures& stage) {
  ModelledFigures figures;
  for (const MovementFile& file : movement) {
    if (stage.key) {
      if (file.gemm == stage.key && !figures.flat_j) figures.flat_j = file.gemm_flat_j;
      if (const auto epoch = file.epochs.find(*stage.key); epoch != file.epochs.end() && !figures.flat_j) {
        figures.flat_j = epoch->second.flat_j;
        figures.nest_j = epoch->second.nest_j;
        figures.floor_j = file.epoch_floor_j;
      }
    }
    if (stage.macs && file.joules_per_mac && !figures.projection_j) {
      figures.projection_j = static_cast<double>(*stage.macs) * *file.joules_per_mac;
    }
  }
  return figures;
}

void compare_with_baseline(ComparedWorkload& workload) {
  const std::optional<MeasuredFigures>& base = workload.measured.front();
  if (!base || !base->figures.adjusted_j) return;
  for (std::optional<MeasuredFigures>& one : workload.measured) {
    if (!one || &one == &workload.measured.front() || !one->figures.adjusted_j) continue;
    const double before = *base->figures.adjusted_j;
    const double now = *one->figures.adjusted_j;
    if (before != 0) one->ratio_to_baseline = now / before;
    if (base->figures.uncertainty_95 && one->figures.uncertainty_95) {
      one->changed = std::abs(now - before) > std::hypot(*base->figures.uncertainty_95, *one->figures.uncertainty_95);
    }
  }
}

}  // namespace

ComparisonReport comparison_report(const std::vector<ReportFile>& files, const std::optional<EnergyFile>& baseline) {
  ComparisonReport report;
  if (baseline) {
    report.energy.push_back(*baseline);
    report.has_baseline = true;
  }
  for (const ReportFile& file : files) {
    if (const auto* energy = std::get_if<EnergyFile>(&file)) report.energy.push_back(*energy);
    if (const auto* movement = std::get_if<MovementFile>(&file)) report.movement.push_back(*movement);
  }
  if (report.energy.empty()) {
    throw Error(ErrorCode::bad_input, "nothing measured is among the documents; give at least one energy document", "FILE");
  }
  for (std::size_t i = 0; i < report.energy.size(); ++i) {
    for (const StageFigures& stage : report.energy[i].stages) {
      ComparedWorkload& workload = workload_of(report, stage);
      workload.modelled = modelled(report.movement, stage);
      workload.measured[i] = MeasuredFigures{stage, {}, {}};
    }
  }
  if (report.has_baseline) {
    for (ComparedWorkload& workload : report.workloads) compare_with_baseline(workload);
  }
  for (const MovementFile& file : report.movement) {
    for (const std::string& term : file.omitted_terms) {
      if (std::find(report.omitted_terms.begin(), report.omitted_terms.end(), term) == report.omitted_terms.end()) {
        report.omitted_terms.push_back(term);
      }
    }
  }
  return report;
}

}  // namespace joulegrid
