#include "joulegrid/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "doc");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Json, keeps_integers_exact_past_64_bits) {
  const std::string text =
      "{\n  \"b\": 340282366920938463463374607431768211455,\n  \"a\": [\n    18446744073709551616,\n    -3\n  ]\n}\n";
  EXPECT_EQ(json_text(parse_json(text, "doc")), text);
}

TEST(Json, refuses_what_it_cannot_keep) {
  EXPECT_THAT(error_of("340282366920938463463374607431768211456"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("-99999999999999999999"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("{\"a\": 1, \"a\": 2}"), HasSubstr("\"a\" appears twice"));
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("nested more than 256 deep"));
}

TEST(Json, names_the_line_of_a_mistake) {
  EXPECT_THAT(error_of("{\n\"a\": 1,\n\"b\" 2}"), HasSubstr("doc:3: not valid JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("doc:1: not valid JSON"));
  EXPECT_THAT(error_of("{}\n{}"), HasSubstr("doc:2: not valid JSON"));
  EXPECT_THAT(error_of("1e999"), HasSubstr("doc:1"));
}

TEST(Json, sizes_are_whole_numbers_in_range) {
  EXPECT_EQ(json_size(parse_json("281474976710656", "doc"), "doc#/x"), max_size);
  for (const char* bad : {"0", "-1", "1.0", "\"1\"", "null", "281474976710657", "18446744073709551617", "[1]", "true"}) {
    EXPECT_THROW(json_size(parse_json(bad, "doc"), "doc#/x"), Error) << bad;
  }
}

}  // namespace
}  // namespace joulegrid
