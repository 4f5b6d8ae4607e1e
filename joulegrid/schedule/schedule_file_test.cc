#include "joulegrid/schedule/schedule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

const Epoch epoch({8, 6, 4}, 10, 4);
const EpochTiles tiles{{{4, 3}, {2, 4}}, {{1, 6}, {2, 2}}};

EpochNests nests() {
  const auto nest = [](const char* text) { return parse_nest(text, "nest"); };
  return {{nest("through m4 [C] k8 [B] n6"), nest("k2 [C] m2 n4 m2 k3")},
          {nest("m2 n6 k8"), nest("reflected k3 [C] m2 n4 k2")}};
}

std::string with(std::string from, const std::string& to, const Schedule& schedule = tiles) {
  std::string text = schedule_text(epoch, schedule);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    read_schedule(text, "s.json", epoch);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(ScheduleFile, reads_back_what_it_wrote) {
  const Gemm gemm{9, 2, 7};
  for (const Schedule& schedule : {Schedule(tiles), Schedule(nests())}) {
    EXPECT_EQ(read_schedule(schedule_text(epoch, schedule), "s.json", epoch), schedule);
  }
  for (const Schedule& schedule :
       {Schedule(EpochTiles{{{3, 5}}}), Schedule(EpochNests{{parse_nest("m3 [A] k2 n7 [C] m3", "nest")}})}) {
    EXPECT_EQ(read_schedule(schedule_text(gemm, schedule), "s.json", gemm), schedule);
  }
}

TEST(ScheduleFile, names_the_place_of_every_mistake) {
  EXPECT_THAT(error_of(""), HasSubstr("s.json:1: not valid JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("s.json#: expected an object"));
  EXPECT_THAT(error_of(with("\"schema_version\": 1", "\"schema_version\": 2")), HasSubstr("s.json#/schema_version"));
  EXPECT_THAT(error_of(with("\"family\": \"sa_cache\"", "\"family\": \"magic\"")), HasSubstr("s.json#/family"));
  EXPECT_THAT(error_of(with("\"family\"", "\"familie\"")), HasSubstr("\"family\" is missing"));
  EXPECT_THAT(error_of(with("\"examples\": 10", "\"examples\": 11")),
              HasSubstr("s.json#/problem: a schedule for another problem"));
  EXPECT_THAT(error_of(with("\"rows\": 4", "\"rows\": 5")),
              HasSubstr("s.json#/tiles/0/rows: this problem has calls of 4 or 2 rows"));
  EXPECT_THAT(error_of(with("\"layer\": 1", "\"layer\": 2")), HasSubstr("s.json#/tiles/1/layer"));
  EXPECT_THAT(error_of(with("\"layer\": 1", "\"layer\": 0")), HasSubstr("s.json#/tiles/1: a second tile"));
  EXPECT_THAT(error_of(with("\"tile_j\": 3", "\"tile_j\": 7")), HasSubstr("s.json#/tiles/0: tile_j of 7"));
  EXPECT_THAT(error_of(with("\"tile_j\": 3", "\"tile_j\": 0")), HasSubstr("s.json#/tiles/0/tile_j"));
  EXPECT_THAT(error_of(with("\"tile_j\": 3", "\"tile_j\": 3.0")), HasSubstr("s.json#/tiles/0/tile_j"));
  EXPECT_THAT(error_of(with("\"tile_j\": 3", "\"tile_j\": \"3\"")), HasSubstr("s.json#/tiles/0/tile_j"));
  EXPECT_THAT(error_of(with("\"tile_j\": 3", "\"other\": 3")), HasSubstr("s.json#/tiles/0: the key \"tile_j\" is missing"));
  EXPECT_THAT(error_of(with("\"tiles\": [", "\"tiles\": [], \"x\": [")),
              HasSubstr("s.json#/tiles: the tile of rows 4, layer 0"));
  EXPECT_THAT(error_of(with("\"family\": \"sa_cache\"", "\"family\": \"nest\"")), HasSubstr("\"nest\" is missing"));
  EXPECT_THAT(error_of(with("through m4 [C]", "through m4 [D]", nests())),
              HasSubstr("s.json#/nest/0/nest, column 13: expected an operand"));
  EXPECT_THAT(error_of(with("m2 n6 k8", "m2 n6 k7", nests())),
              HasSubstr("s.json#/nest/2/nest, column 7: the trips of k multiply to 7 and do not cover its size, 8"));
  EXPECT_THAT(error_of(with("\"m2 n6 k8\"", "17", nests())), HasSubstr("s.json#/nest/2/nest: expected a nest as text"));
  EXPECT_THAT(error_of(with("\"layer\": 1", "\"layer\": 0", nests())), HasSubstr("s.json#/nest/1: a second nest"));
  EXPECT_THAT(error_of(with("\"tiles\": [", "\"tiles\": {}, \"x\": [")), HasSubstr("s.json#/tiles: expected an array"));
}

TEST(ScheduleFile, the_order_of_keys_does_not_matter_but_types_do) {
  const std::string reordered = with("\"kind\": \"mlp\",", "\"batch\": 4,");
  const auto last = reordered.find("\"batch\": 4\n");
  ASSERT_NE(last, std::string::npos);
  const std::string text = std::string(reordered).replace(last, 11, "\"kind\": \"mlp\"");
  EXPECT_EQ(read_schedule(text, "s.json", epoch), read_schedule(schedule_text(epoch, tiles), "s.json", epoch));
  EXPECT_THAT(error_of(with("\"batch\": 4", "\"batch\": 4.0")), HasSubstr("s.json#/problem"));
  EXPECT_THAT(error_of(with("\"schema_version\": 1", "\"schema_version\": 1.0")), HasSubstr("s.json#/schema_version"));
  EXPECT_LT(error_of(with("\"examples\": 10", "\"examples\": \"" + std::string(100000, 'x') + "\"")).size(), 500U);
}

}  // namespace
}  // namespace joulegrid
