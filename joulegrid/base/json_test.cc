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
  EXPECT_THAT(error_of("[1,\n340282366920938463463374607431768211456\n]"), HasSubstr("doc:2: "));
  EXPECT_THAT(error_of("{\"a\": 1,\n\"a\": 2}"), HasSubstr("doc:2: the key 'a' appears twice"));
  EXPECT_THAT(error_of("\n" + std::string(100000, '[')), HasSubstr("doc:2: nested more than 256 deep"));
}

TEST(Json, names_the_line_of_a_mistake) {
  EXPECT_THAT(error_of("{\n\"a\": 1,\n\"b\" 2}"), HasSubstr("doc:3: not valid JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("doc:1: not valid JSON"));
  EXPECT_THAT(error_of("{}\n{}"), HasSubstr("doc:2: not valid JSON"));
  EXPECT_THAT(error_of("1e999"), HasSubstr("doc:1"));
}

TEST(Json, errors_are_short_and_on_one_line_whatever_was_written) {
  for (const std::string& text :
       {"\"" + std::string(1000000, 'x'), std::string("\"\n\x1b[31m"), "{\"" + std::string(100000, 'k') + "\" 1}"}) {
    const std::string error = error_of(text);
    EXPECT_LT(error.size(), 400U);
    EXPECT_EQ(error.find_first_of("\n\x1b"), std::string::npos);
  }
  EXPECT_LT(json_in_quotes(parse_json("\"" + std::string(1000000, 'x') + "\"", "doc")).size(), 60U);
}

TEST(Json, sameness_ignores_the_order_of_keys_but_not_types) {
  const Json expected = parse_json(R"({"a": 1, "b": [1, 2]})", "doc");
  EXPECT_TRUE(same_json(parse_json(R"({"b": [1, 2], "a": 1})", "doc"), expected));
  for (const char* other : {R"({"a": 1.0, "b": [1, 2]})", R"({"a": 1, "b": [2, 1]})", R"({"a": 1})", R"({"a": 1, "c": [1, 2]})",
                            R"({"a": 1, "b": [1, 2], "c": 3})", "[]", "1"}) {
    EXPECT_FALSE(same_json(parse_json(other, "doc"), expected)) << other;
  }
}

TEST(Json, sizes_are_whole_numbers_in_range) {
  EXPECT_EQ(json_size(parse_json("281474976710656", "doc"), "doc#/x"), max_size);
  for (const char* bad : {"0", "-1", "1.0", "\"1\"", "null", "281474976710657", "18446744073709551617", "[1]", "true"}) {
    EXPECT_THROW(json_size(parse_json(bad, "doc"), "doc#/x"), Error) << bad;
  }
}

}  // namespace
}  // namespace joulegrid
