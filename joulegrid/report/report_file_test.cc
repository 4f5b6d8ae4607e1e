#include "joulegrid/report/report_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using testing::HasSubstr;

const std::string golden = JOULEGRID_GOLDEN_DIR;

std::string published_energy() { return read_file(golden + "/a100_energy_report_2026-09-01.json"); }
std::string published_movement() { return read_file(golden + "/movement_report_2026-09-02.json"); }

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string error_of(const std::string& text) {
  try {
    parse_report_file(text, "file.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(ReportFile, documents_are_told_apart_by_their_content) {
  EXPECT_TRUE(std::holds_alternative<EnergyFile>(parse_report_file(published_energy(), "a")));
  EXPECT_TRUE(std::holds_alternative<MovementFile>(parse_report_file(published_movement(), "b")));
}

TEST(ReportFile, the_published_energy_report_is_read_as_it_is) {
  const auto file = std::get<EnergyFile>(parse_report_file(published_energy(), "a"));
  EXPECT_EQ(file.machine, "NVIDIA A100-SXM4-40GB");
  ASSERT_EQ(file.stages.size(), 6U);
  EXPECT_EQ(file.stages[0].stage, "strict_fp32");
  EXPECT_EQ(file.stages[0].operation, "GEMM");
  EXPECT_EQ(file.stages[0].idle_w, 67.92575465007738);
  EXPECT_FALSE(file.stages[0].uncertainty_95);
  EXPECT_EQ(file.stages[5].key->batch, "full");
  EXPECT_EQ(file.stages[4].key->batch, "16");
  EXPECT_EQ(file.stages[4].key->examples, Wide{60000});
}

TEST(ReportFile, mistakes_are_named_with_file_and_pointer) {
  EXPECT_THAT(error_of("[1, 2]"), HasSubstr("file.json#: expected an object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("neither an energy document nor a movement document"));
  EXPECT_THAT(error_of("{\"a\": "), HasSubstr("file.json"));
  EXPECT_THAT(error_of(replaced(published_energy(), "{", "{\"schema_version\": 2,")),
              HasSubstr("file.json#/schema_version: this document is of schema_version 2, this program knows up to 1"));
  EXPECT_THAT(error_of(replaced(published_energy(), "19.693367816091953", "\"19\"")),
              HasSubstr("file.json#/gemm_8192/stages/strict_fp32/raw_board_energy_J_per_GEMM: expected a number"));
  EXPECT_THAT(error_of(replaced(published_energy(), "19.693367816091953", "NaN")), HasSubstr("file.json"));
  EXPECT_THAT(error_of(replaced(published_energy(), "\"idle_baseline_W\"", "\"idle\"")),
              HasSubstr("file.json#/gemm_8192/stages/strict_fp32: the key \"idle_baseline_W\" is missing"));
  EXPECT_THAT(error_of(replaced(published_movement(), "\"omitted_terms\"", "\"terms\"")),
              HasSubstr("file.json#: the key \"omitted_terms\" is missing"));
}

TEST(ReportFile, every_truncation_is_an_error) {
  const std::string text = published_energy();
  for (std::size_t size = 0; size + 2 < text.size(); size += 37) EXPECT_NE(error_of(text.substr(0, size)), "no error") << size;
}

std::string document(const std::string& section, const std::string& stage, const std::string& more = "",
                     const std::string& date = "2026-12-01", const std::string& cpu = "A") {
  return R"({"schema_version": 1, "report_date": ")" + date + R"(", "hardware": {"cpu_name": ")" + cpu +
         R"("}, "host": {"operating_system": "L"}, "measurement": {"seed": 1, "counter": {"name": "c", "tick_ms": )" +
         std::to_string(stage.size()) + R"(}}, ")" + section + R"(": {"timestamp_utc": ")" + stage +
         R"(", "shape": [4, 4, 4], )" + more + R"("MAC": 64, "stages": {")" + stage +
         R"(": {"seconds_per_GEMM": 2, "raw_package_energy_J_per_GEMM": 7,
         "idle_baseline_W": 1, "idle_adjusted_package_energy_J_per_GEMM": 5}}}})";
}

TEST(JoinedEnergyDocument, has_the_sections_and_stages_of_all) {
  const std::string text = joined_energy_document({{"a", document("gemm_4", "int8")},
                                                   {"b", document("gemm_4", "bf16", "", "2026-12-03")},
                                                   {"c", document("other_4", "int8")}});
  const Json json = parse_json(text, "joined");
  EXPECT_EQ(json["report_date"].get<std::string>(), "2026-12-03");
  EXPECT_EQ(json["gemm_4"]["stages"].size(), 2U);
  EXPECT_EQ(json["other_4"]["stages"].size(), 1U);
  EXPECT_EQ(joined_energy_document({{"a", document("gemm_4", "int8")}}),
            json_text(parse_json(document("gemm_4", "int8"), "a")));
}

TEST(JoinedEnergyDocument, refuses_what_does_not_belong_together) {
  const auto error_with = [](const std::string& other) {
    try {
      joined_energy_document({{"a", document("gemm_4", "int8")}, {"b", other}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_with(document("gemm_4", "int8")),
              HasSubstr("b#/gemm_4/stages/int8: an earlier document has this stage too"));
  EXPECT_THAT(error_with(document("gemm_4", "bf16", R"("values": "ones", )")), HasSubstr("about other work"));
  EXPECT_THAT(error_with(document("gemm_4", "bf16", "", "2026-12-01", "B")),
              HasSubstr("b#/hardware: it is of another machine"));
  EXPECT_THAT(error_with(replaced(document("gemm_4", "bf16"), "\"seed\": 1", "\"seed\": 2")),
              HasSubstr("measured in another way"));
  EXPECT_THAT(error_with(published_movement()), HasSubstr("this is no energy document"));
}

TEST(JoinedEnergyDocument, a_section_that_was_measured_otherwise_says_how) {
  const std::string other = replaced(document("other_4", "int8"), "\"seed\": 1", "\"seed\": 2");
  const Json json = parse_json(joined_energy_document({{"a", document("gemm_4", "int8")}, {"b", other}}), "joined");
  EXPECT_EQ(json["measurement"]["seed"].get<int>(), 1);
  EXPECT_EQ(json["other_4"]["measurement"]["seed"].get<int>(), 2);
  EXPECT_FALSE(json["gemm_4"].contains("measurement"));
}

}  // namespace
}  // namespace joulegrid
