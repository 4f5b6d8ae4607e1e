#include "joulegrid/report/comparison_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using testing::HasSubstr;

const std::string golden = JOULEGRID_GOLDEN_DIR;

ReportFile published_energy() {
  const std::string file = golden + "/a100_energy_report_2026-09-01.json";
  return parse_report_file(read_file(file), file);
}

ReportFile published_movement() {
  const std::string file = golden + "/movement_report_2026-09-02.json";
  return parse_report_file(read_file(file), file);
}

/// An energy document of one GEMM stage.
std::string energy_document_of(const std::string& stage, const std::string& adjusted, const std::string& half_width,
                               const std::string& machine = "Processor 9000") {
  return R"({"schema_version": 1, "report_date": "2026-12-01", "hardware": {"gpu_name": null, "cpu_name": ")" + machine +
         R"("}, "host": {}, "measurement": {"seed": 1}, "gemm_4": {"timestamp_utc": "x", "shape": [4, 4, 4], "MAC": 64,
         "stages": {")" +
         stage + R"(": {"seconds_per_GEMM": 2, "raw_package_energy_J_per_GEMM": 7, "idle_baseline_W": 1,
         "idle_adjusted_package_energy_J_per_GEMM": )" +
         adjusted + R"(, "uncertainty_J_95": )" + half_width +
         R"(, "flags": [{"flag": "outlier", "text": "far"}], "reason": null}}}})";
}

EnergyFile energy_of(const std::string& adjusted, const std::string& half_width) {
  return std::get<EnergyFile>(parse_report_file(energy_document_of("int8", adjusted, half_width), "a.json"));
}

const ComparedWorkload& workload(const ComparisonReport& report, const std::string& name) {
  for (const ComparedWorkload& one : report.workloads) {
    if (one.name == name) return one;
  }
  throw std::out_of_range(name);
}

TEST(ComparisonReport, the_published_documents_give_the_published_pair_of_figures) {
  const ComparisonReport report = comparison_report({published_energy(), published_movement()});
  const ComparedWorkload& int8 = workload(report, "gemm_8192/int8_tensor_core");
  EXPECT_NEAR(*int8.measured[0]->figures.adjusted_j, 0.904074, 5e-7);
  EXPECT_NEAR(*int8.modelled.flat_j, 0.118953, 5e-7);
  EXPECT_EQ(int8.macs, Wide{8192} * 8192 * 8192);
  EXPECT_FALSE(int8.modelled.floor_j);
  // 0.118953083721334 J of 8192^3 MACs, for 717,900,000,000.
  const ComparedWorkload& epoch = workload(report, "ciresan_mnist_int8_inference/logical_batch16");
  EXPECT_NEAR(*epoch.modelled.projection_j, 0.1553351809044137, 1e-15);
  EXPECT_NEAR(*epoch.modelled.flat_j, 0.134309615592699, 1e-15);
  const ComparedWorkload& full = workload(report, "ciresan_mnist_int8_inference/single_full_batch60000");
  EXPECT_NEAR(*full.modelled.flat_j, 0.133502855653573, 1e-15);
  EXPECT_THAT(report.omitted_terms, testing::Contains("destination writes"));
  EXPECT_EQ(report.workloads.size(), 6U);
}

TEST(ComparisonReport, nests_and_the_floor_come_from_the_document_that_has_them) {
  std::string text = read_file(golden + "/movement_report_2026-09-02.json");
  text = text.substr(0, text.rfind('}')) + R"(, "nest_search": {"cases": {"16": {"epoch_movement_energy_J": 0.1}}},
    "floor": {"epoch_movement_energy_J": 0.014}})";
  const ComparisonReport report = comparison_report({published_energy(), parse_report_file(text, "beyond.json")});
  const ComparedWorkload& epoch = workload(report, "ciresan_mnist_int8_inference/logical_batch16");
  EXPECT_EQ(epoch.modelled.nest_j, 0.1);
  EXPECT_EQ(epoch.modelled.floor_j, 0.014);
  EXPECT_FALSE(workload(report, "ciresan_mnist_int8_inference/single_full_batch60000").modelled.nest_j);
}

TEST(ComparisonReport, a_model_of_another_shape_is_not_the_workloads) {
  const ReportFile energy = parse_report_file(energy_document_of("int8", "5", "0.1"), "a.json");
  const ComparisonReport report = comparison_report({energy, published_movement()});
  EXPECT_FALSE(report.workloads.at(0).modelled.flat_j);
  // The projection goes by MACs alone: 64 of them.
  EXPECT_NEAR(*report.workloads.at(0).modelled.projection_j, 64 * 2.1637439880820965e-13, 1e-24);
}

TEST(ComparisonReport, a_change_is_one_beyond_both_uncertainties_together) {
  // hypot(0.3, 0.4) is 0.5.
  const auto compared = [](const std::string& now, const std::string& half_width) {
    const ReportFile file = parse_report_file(energy_document_of("int8", now, half_width), "b.json");
    return *comparison_report({file}, energy_of("5", "0.3")).workloads.at(0).measured.at(1);
  };
  EXPECT_EQ(compared("5.49", "0.4").changed, false);
  EXPECT_EQ(compared("5.51", "0.4").changed, true);
  EXPECT_EQ(compared("4.49", "0.4").changed, true);
  EXPECT_EQ(compared("10", "null").changed, std::nullopt);
  EXPECT_EQ(compared("10", "null").ratio_to_baseline, 2.0);
  EXPECT_EQ(compared("null", "0.4").ratio_to_baseline, std::nullopt);
}

TEST(ComparisonReport, machines_stand_side_by_side_and_what_one_lacks_is_absent) {
  const ReportFile a = parse_report_file(energy_document_of("int8", "5", "0.1"), "a.json");
  const ReportFile b = parse_report_file(energy_document_of("bf16", "6", "0.1", "Other"), "b.json");
  const ComparisonReport report = comparison_report({a, b});
  ASSERT_EQ(report.workloads.size(), 2U);
  EXPECT_TRUE(report.workloads[0].measured[0]);
  EXPECT_FALSE(report.workloads[0].measured[1]);
  const std::string text = comparison_text(report, {});
  EXPECT_THAT(text, HasSubstr("Processor 9000"));
  EXPECT_THAT(text, HasSubstr("Other"));
  EXPECT_THAT(text, HasSubstr("flags: outlier"));
}

TEST(ComparisonReport, energies_that_are_null_stay_so_everywhere) {
  const ReportFile a = parse_report_file(energy_document_of("int8", "null", "null"), "a.json");
  const ComparisonReport report = comparison_report({a});
  const Json json = parse_json(comparison_document(report), "document");
  EXPECT_TRUE(json["workloads"][0]["measured"][0]["idle_adjusted_J"].is_null());
  EXPECT_TRUE(json["workloads"][0]["measured"][0]["idle_adjusted_pJ_per_MAC"].is_null());
  EXPECT_THAT(comparison_csv(report), HasSubstr("gemm_4/int8,GEMM,64,a.json,Processor 9000,2,7,,,"));
}

TEST(ComparisonReport, hostile_names_are_one_csv_field_and_one_line) {
  const ReportFile a = parse_report_file(energy_document_of(R"(a\",\"\n<b>)", "5", "0.1"), "a,b.json");
  const ComparisonReport report = comparison_report({a});
  EXPECT_THAT(comparison_csv(report), HasSubstr("\"gemm_4/a\"\",\"\"\n<b>\",GEMM,64,\"a,b.json\""));
  EXPECT_EQ(parse_json(comparison_document(report), "document")["workloads"][0]["workload"].get<std::string>(),
            "gemm_4/a\",\"\n<b>");
}

TEST(ComparisonReport, without_a_measurement_there_is_nothing_to_compare) {
  EXPECT_THROW(comparison_report({published_movement()}), Error);
}

}  // namespace
}  // namespace joulegrid
