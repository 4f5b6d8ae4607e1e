#include "joulegrid/report/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 4;

std::string aligned(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string text = width == 0 ? std::string() : shortened(cell, width);
  const std::string blanks(width - display_width(text), ' ');
  return align == Table::Align::left ? text + blanks : blanks + text;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  check(cells.size() == columns_.size(), "a table row has one cell per column");
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c].title));
    for (const auto& row : rows_) widths.back() = std::max(widths.back(), display_width(row[c]));
  }
  return widths;
}

std::size_t Table::natural_width(std::size_t indent) const {
  const std::vector<std::size_t> widths = natural_widths();
  return std::accumulate(widths.begin(), widths.end(), indent + gap * (widths.size() - 1));
}

std::vector<std::size_t> Table::widths(std::size_t indent) const {
  std::vector<std::size_t> widths = natural_widths();
  std::size_t total = natural_width(indent);
  const auto shrinkable = [&](std::size_t c, bool decoration, bool left_only) {
    if (decoration) return columns_[c].decoration && widths[c] > 0;
    return widths[c] > narrowest && (!left_only || columns_[c].align == Align::left);
  };
  while (total > text_width) {
    std::size_t* widest = nullptr;
    for (const auto& [decoration, left_only] : {std::pair(true, true), std::pair(false, true), std::pair(false, false)}) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (shrinkable(c, decoration, left_only) && (widest == nullptr || widths[c] > *widest)) widest = &widths[c];
      }
      if (widest != nullptr) break;
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::text(const TextStyle& style, std::size_t indent) const {
  const std::vector<std::size_t> width = widths(indent);
  const std::string margin(indent, ' ');
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text += std::string(gap, ' ');
      text += cell_of(c);
    }
    return without_trailing_blanks(text);
  };
  std::string text =
      margin + style.bold(line([&](std::size_t c) { return aligned(columns_[c].title, width[c], columns_[c].align); })) + "\n";
  text += margin + style.dim(line([&](std::size_t c) {
    std::string rule;
    for (std::size_t i = 0; i < width[c]; ++i) rule += "─";
    return rule;
  })) + "\n";
  for (const auto& row : rows_) {
    text += margin + line([&](std::size_t c) { return aligned(row[c], width[c], columns_[c].align); }) + "\n";
  }
  return text;
}

}  // namespace joulegrid
