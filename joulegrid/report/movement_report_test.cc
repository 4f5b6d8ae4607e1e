#include "joulegrid/report/movement_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MovementSubject small() {
  MovementSubject subject;
  subject.widths = {20, 12, 6};
  subject.examples = 50;
  subject.batches = {8, std::nullopt, 50, 1};
  subject.reference = {8, 4, 6};
  return subject;
}

TEST(MovementReport, is_the_published_report_and_a_final_newline) {
  EXPECT_EQ(movement_document(movement_report({})), read_file(JOULEGRID_GOLDEN_DIR "/movement_report_2026-09-02.json") + "\n");
}

TEST(MovementReport, holds_the_batches_asked_for_in_their_order) {
  const MovementReport report = movement_report(small());
  ASSERT_EQ(report.cases.size(), 4U);
  EXPECT_EQ(report.cases[0].name(), "8");
  EXPECT_EQ(report.cases[1].name(), "full");
  EXPECT_EQ(report.cases[2].name(), "50");
  EXPECT_EQ(report.cases[1].packing.steps, report.cases[2].packing.steps);
  const Json json = parse_json(movement_document(report), "report");
  const Json& space = json["batching_analysis"]["persistent_epoch_address_space"];
  EXPECT_EQ(space["cases"].size(), 4U);
  EXPECT_EQ(space["cases"]["50"]["movement_energy_ratio_to_full_batch"], 1.0);
  EXPECT_EQ(space["input_storage"]["reusable_8_row_input_buffer"], false);
  EXPECT_EQ(space["input_storage"]["batch8_partition"][1]["rows_per_call"], 2U);
  EXPECT_EQ(json["mac_count_only_sensitivity"]["reference"], "retuned 8x4x6 sa_cache movement energy");
  EXPECT_THAT(space["description"].get<std::string>(), HasSubstr("the 50-image source"));
}

TEST(MovementReport, compares_with_the_full_batch_even_when_it_is_not_listed) {
  MovementSubject subject = small();
  const MovementReport all = movement_report(subject);
  subject.batches = {8};
  const MovementReport one = movement_report(subject);
  ASSERT_EQ(one.cases.size(), 1U);
  EXPECT_EQ(one.full->packing.steps, all.cases[1].packing.steps);
  EXPECT_EQ(parse_json(movement_document(one), "")["batching_analysis"]["persistent_epoch_address_space"]["cases"]["8"],
            parse_json(movement_document(all), "")["batching_analysis"]["persistent_epoch_address_space"]["cases"]["8"]);
}

TEST(MovementReport, leaves_the_partition_out_where_every_batch_divides) {
  MovementSubject subject = small();
  subject.batches = {std::nullopt, 10};
  EXPECT_THAT(movement_document(movement_report(subject)), Not(HasSubstr("partition")));
}

TEST(MovementReport, other_scales_multiply_and_are_named) {
  MovementSubject subject = small();
  subject.scale.joules_per_step = 2e-15;
  const std::string document = movement_document(movement_report(subject));
  EXPECT_THAT(document, HasSubstr("using 2e-15 J per source operand"));
  EXPECT_THAT(document, HasSubstr("physical 2.5 um wire"));
}

TEST(MovementReport, refuses_subjects_that_make_no_sense) {
  for (const std::vector<Batch>& batches : {std::vector<Batch>{}, {51}, {8, 8}, {std::nullopt, std::nullopt}, {0}}) {
    MovementSubject subject = small();
    subject.batches = batches;
    EXPECT_THROW(movement_report(subject), Error);
  }
}

TEST(MovementReport, an_interrupted_report_holds_only_what_was_finished) {
  // Interrupted after n sweeps, for every n: each part is either what the whole report says or missing.
  const MovementReport whole = movement_report(small());
  const Json document = parse_json(movement_document(whole), "whole");
  std::size_t most_cases = 0;
  for (int sweeps = 0;; ++sweeps) {
    Stop stop;
    int left = sweeps;
    if (left == 0) stop.request();
    MovementReportOptions options;
    options.stop = &stop;
    options.progress = [&](const std::string&, const DescentProgress&) {
      if (--left == 0) stop.request();
    };
    const MovementReport report = movement_report(small(), options);
    const Json json = parse_json(movement_document(report), "part");
    const Json& cases = json["batching_analysis"]["persistent_epoch_address_space"]["cases"];
    for (const auto& [name, value] : cases.items()) {
      EXPECT_EQ(value, document["batching_analysis"]["persistent_epoch_address_space"]["cases"][name]) << sweeps;
    }
    if (json.contains("mac_count_only_sensitivity")) {
      EXPECT_EQ(json["mac_count_only_sensitivity"], document["mac_count_only_sensitivity"]) << sweeps;
    }
    most_cases = std::max(most_cases, cases.size());
    EXPECT_EQ(report.complete, !json.contains("interrupted"));
    if (report.complete) {
      EXPECT_EQ(json, document);
      break;
    }
    EXPECT_THAT(movement_text(report, {}), HasSubstr("Interrupted"));
    EXPECT_LT(cases.size(), 4U);
  }
  EXPECT_EQ(most_cases, 4U);
}

TEST(MovementReport, the_smallest_and_largest_scales_give_finite_numbers) {
  for (const double joules : {EnergyScale::least_joules_per_step, EnergyScale::most_joules_per_step}) {
    MovementSubject subject = small();
    subject.scale.joules_per_step = joules;
    EXPECT_THAT(movement_document(movement_report(subject)), Not(HasSubstr("null")));
  }
}

}  // namespace
}  // namespace joulegrid
