#include "joulegrid/workload/program_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Json details_of(Stage& stage) { return parse_json(stage.details(), "details"); }

TEST(ProgramStage, runs_the_program_once_for_every_repetition) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "program_stage_runs";
  std::filesystem::remove(file);
  const auto stage = make_program_stage("append", shell_call("echo x >> " + file.string()), {});
  stage->enqueue(3);
  EXPECT_FALSE(stage->synchronise());
  stage->enqueue(2);
  EXPECT_FALSE(stage->synchronise());
  EXPECT_EQ(std::filesystem::file_size(file), 10U);
  std::filesystem::remove(file);
}

TEST(ProgramStage, details_tell_of_the_runs_since_the_last_call_and_of_the_first_runs_output) {
  const auto stage = make_program_stage("talk", shell_call("echo hello; echo oops >&2"), {});
  stage->enqueue(2);
  EXPECT_FALSE(stage->synchronise());
  Json details = details_of(*stage);
  EXPECT_EQ(details["wall_seconds"].size(), 2U);
  EXPECT_GT(details["wall_seconds"][0].get<double>(), 0);
  EXPECT_EQ(details["exit_statuses"].dump(), "[0]");
  EXPECT_EQ(details["output"]["text"].get<std::string>(), "hello\n");
  EXPECT_EQ(details["errors"]["text"].get<std::string>(), "oops\n");
  EXPECT_TRUE(details["failed_run"].is_null());
  stage->enqueue(1);
  EXPECT_FALSE(stage->synchronise());
  details = details_of(*stage);
  EXPECT_EQ(details["wall_seconds"].size(), 1U);
  EXPECT_FALSE(details.contains("output"));
}

TEST(ProgramStage, a_run_that_fails_ends_the_aggregate_and_says_what_the_program_said) {
  const auto stage = make_program_stage("fail", shell_call("echo 'no such thing' >&2; exit 3"), {});
  stage->enqueue(5);
  const std::optional<Fault> fault = stage->synchronise();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::work_failed);
  EXPECT_THAT(fault->reason, HasSubstr("run 1: exited with status 3, saying 'no such thing'"));
  const Json details = details_of(*stage);
  EXPECT_EQ(details["failed_run"]["exit_status"].get<int>(), 3);
  EXPECT_EQ(details["wall_seconds"].size(), 1U);
}

TEST(ProgramStage, an_exit_status_may_be_accepted_but_a_signal_may_not) {
  ProgramStageOptions options;
  options.accept_any_status = true;
  const auto exits = make_program_stage("exits", shell_call("exit 3"), options);
  exits->enqueue(2);
  EXPECT_FALSE(exits->synchronise());
  EXPECT_EQ(details_of(*exits)["exit_statuses"].dump(), "[3]");
  const auto dies = make_program_stage("dies", shell_call("kill -SEGV $$"), options);
  dies->enqueue(1);
  ASSERT_TRUE(dies->synchronise());
  EXPECT_EQ(details_of(*dies)["failed_run"]["signal"].get<int>(), 11);
}

TEST(ProgramStage, a_program_that_hangs_is_killed_and_is_a_failure) {
  ProgramStageOptions options;
  options.timeout = 200ms;
  const auto stage = make_program_stage("hang", {{"sleep", "60"}}, options);
  stage->enqueue(1);
  const std::optional<Fault> fault = stage->synchronise();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::work_failed);
  EXPECT_EQ(details_of(*stage)["failed_run"]["end"].get<std::string>(), "timed_out");
}

TEST(ProgramStage, a_stop_ends_it_as_interrupted) {
  Stop stop;
  ProgramStageOptions options;
  options.stop = &stop;
  const auto stage = make_program_stage("sleep", {{"sleep", "60"}}, options);
  std::jthread other([&] {
    std::this_thread::sleep_for(100ms);
    stop.request();
  });
  stage->enqueue(3);
  const std::optional<Fault> fault = stage->synchronise();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::interrupted);
}

}  // namespace
}  // namespace joulegrid
