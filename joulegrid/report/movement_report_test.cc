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

TEST(MovementReport, beyond_adds_nests_and_the_floor_after_the_published_keys) {
  MovementSubject subject = small();
  const Json plain = parse_json(movement_document(movement_report(subject)), "plain");
  subject.beyond = NestSearchPlan{.seed = 3, .evaluations = 20000};
  const MovementReport report = movement_report(subject);
  Json json = parse_json(movement_document(report), "beyond");
  const std::vector<std::string> added{"nest_search", "floor"};
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(std::vector<std::string>(keys.end() - 2, keys.end()), added);

  const Json& search = json["nest_search"];
  EXPECT_EQ(search["seed"], 3U);
  EXPECT_EQ(search["evaluations_per_batch"], 20000U);
  EXPECT_EQ(json["floor"]["epoch_steps"], static_cast<std::uint64_t>(floor_of(report.epoch).steps.count()));
  for (const MovementCase& c : report.cases) {
    const Json& of = search["cases"][c.name()];
    // What the document says is what searching and pricing by themselves say.
    NestSearchOptions options;
    options.seed = 3;
    options.evaluations = 20000;
    const NestsFound found = search_nests({c.epoch}, options);
    EXPECT_EQ(of["epoch_steps"], static_cast<std::uint64_t>(found.steps.count()));
    EXPECT_EQ(of["epoch_charged_reads"],
              static_cast<std::uint64_t>(pack(nest_overlays(c.epoch, found.nests)).charged_reads.count()));
    std::size_t listed = 0;
    for (const std::vector<Nest>& group : found.nests) {
      for (const Nest& nest : group) EXPECT_EQ(of["nest"][listed++]["nest"], to_string(nest));
    }
    EXPECT_EQ(of["nest"].size(), listed);
    EXPECT_LT(found.steps, c.packing.steps);
    EXPECT_GE(of["ratio_to_floor"].get<double>(), 1.0);
    EXPECT_GT(json["floor"]["sa_cache_ratio_to_floor"][c.name()].get<double>(), of["ratio_to_floor"].get<double>());
  }
  for (const std::string& key : added) json.erase(key);
  EXPECT_EQ(json, plain);
  EXPECT_THAT(movement_text(report, {}), HasSubstr("Beyond flat tiles"));
}

TEST(MovementReport, interrupted_among_the_nests_leaves_out_the_unfinished_ones) {
  MovementSubject subject = small();
  subject.beyond = NestSearchPlan{.seed = 1, .evaluations = 20000};
  Stop stop;
  MovementReportOptions options;
  options.stop = &stop;
  options.nest_progress = [&](const std::string& batch, const NestSearchProgress&) {
    if (batch == "50") stop.request();
  };
  const MovementReport report = movement_report(subject, options);
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.cases.size(), 4U);
  EXPECT_TRUE(report.cases[1].nests);
  EXPECT_FALSE(report.cases[2].nests);
  const Json json = parse_json(movement_document(report), "report");
  EXPECT_EQ(json["nest_search"]["cases"].size(), 2U);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_THAT(movement_text(report, {}), HasSubstr("Interrupted"));
}

}  // namespace
}  // namespace joulegrid
