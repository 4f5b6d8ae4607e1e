#include <gtest/gtest.h>

#include "joulegrid/base/error.h"
#include "joulegrid/process/program.h"

namespace joulegrid {
namespace {

using Words = std::vector<std::string>;

struct Case {
  const char* line;
  Words words;
};

TEST(Words, a_line_is_split_as_a_shell_does) {
  const Case cases[] = {
      {"", {}},
      {" \t\n ", {}},
      {"a", {"a"}},
      {"  a  b\tc\nd ", {"a", "b", "c", "d"}},
      {"'a b' c", {"a b", "c"}},
      {R"("a b" c)", {"a b", "c"}},
      {"''", {""}},
      {R"(a "" b)", {"a", "", "b"}},
      {R"(a''b"c"\d)", {"abcd"}},
      {R"('a\b"c$d')", {R"(a\b"c$d)"}},
      {R"("a'b")", {"a'b"}},
      {R"("\$ \` \" \\")", {R"($ ` " \)"}},
      {R"("\a \' \n")", {R"(\a \' \n)"}},
      {R"(\a\ \'\"\\\$)", {R"(a '"\$)"}},
      {R"(\ )", {" "}},
      {"a\\\nb", {"ab"}},
      {"a \\\n b", {"a", "b"}},
      {"\"a\\\nb\"", {"ab"}},
      {"'a\nb'", {"a\nb"}},
      {R"('it'\''s')", {"it's"}},
      {"$HOME ~ *.c a|b >c; # d & `e`", {"$HOME", "~", "*.c", "a|b", ">c;", "#", "d", "&", "`e`"}},
      {"größe 'ein Maß'", {"größe", "ein Maß"}},
  };
  for (const Case& c : cases) EXPECT_EQ(split_words(c.line, "--command"), c.words) << c.line;
}

TEST(Words, what_is_left_open_is_an_error_that_says_where) {
  for (const char* line : {"'", "a 'b", "a \"b", "\"a\\\"", "\"\\", "a\\", "\\", "'a\\'b'"}) {
    try {
      split_words(line, "--command");
      ADD_FAILURE() << line;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_input);
      EXPECT_EQ(std::string(e.what()).rfind("--command: ", 0), 0U) << e.what();
    }
  }
  EXPECT_THROW(split_words(std::string_view("a\0b", 3), ""), Error);
}

TEST(Words, a_shell_call_hands_over_the_line_as_it_is) {
  EXPECT_EQ(shell_call("a 'b' | c").words, (Words{"/bin/sh", "-c", "a 'b' | c"}));
}

}  // namespace
}  // namespace joulegrid
