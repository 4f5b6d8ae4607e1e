#include "joulegrid/report/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace joulegrid {
namespace {

TEST(Table, aligns_columns_by_characters) {
  Table table({{"Name", Table::Align::left}, {"Energy"}});
  table.add_row({"→", "1.5 µJ"});
  table.add_row({"long", "22.5 mJ"});
  EXPECT_EQ(table.text({}),
            "  Name   Energy\n"
            "  ────  ───────\n"
            "  →      1.5 µJ\n"
            "  long  22.5 mJ\n");
}

TEST(Table, is_never_wider_than_the_text_width) {
  Table table({{"Name", Table::Align::left}, {"Number"}, {"Other"}});
  table.add_row({std::string(150, 'x'), std::string(60, '1'), std::string(60, '2')});
  std::istringstream lines(table.text({}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), text_width) << line;
}

TEST(Table, decoration_gives_way_before_anything_that_is_said) {
  Table table({{"Name", Table::Align::left}, {"Bar", Table::Align::left, true}});
  table.add_row({std::string(90, 'x'), "████████████████"});
  EXPECT_NE(table.text({}).find(std::string(90, 'x')), std::string::npos);
}

TEST(Table, refuses_rows_of_another_width) {
  Table table({{"a"}, {"b"}});
  EXPECT_THROW(table.add_row({"1"}), std::logic_error);
}

}  // namespace
}  // namespace joulegrid
