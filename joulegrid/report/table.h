#pragma once

#include <string>
#include <vector>

#include "joulegrid/report/text.h"

namespace joulegrid {

/// A table for people: a header line, a rule, rows; columns as wide as they need, the whole at most text_width columns:
/// decoration gives way first, then the widest left-aligned column.
class Table {
 public:
  enum class Align { left, right };

  struct Column {
    std::string title;
    Align align = Align::right;
    bool decoration = false;  ///< gives way first, and altogether
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column; plain text, without escape sequences.
  void add_row(std::vector<std::string> cells);

  /// Columns that the text would take if nothing gave way.
  std::size_t natural_width(std::size_t indent = 2) const;

  /// The lines, each indented by `indent` blanks and ended by a newline.
  std::string text(const TextStyle& style, std::size_t indent = 2) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  std::vector<std::size_t> widths(std::size_t indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace joulegrid
