#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/base/quantity.h"

namespace joulegrid {

/// The widest line of any human-readable output, in columns.
inline constexpr std::size_t text_width = 100;

/// How text for people is dressed.
struct TextStyle {
  bool colour = false;  ///< escape sequences for a terminal; off, the text is plain

  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  std::string accent(std::string_view text) const;
};

/// Columns that UTF-8 text takes on a terminal: one per code point, none for escape sequences.
std::size_t display_width(std::string_view text);

/// The text cut to so many columns, its last one an ellipsis where something was cut. Takes no escape sequences.
std::string shortened(std::string_view text, std::size_t width);

/// The text as lines of at most text_width columns, broken at blanks, each indented by `indent` blanks and ended by a newline;
/// the first begins with `head` instead. A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, std::string_view head, std::size_t indent);

/// 1234567 as "1,234,567".
std::string grouped(Wide value);

/// A value with an SI prefix: si(0.1189, "J") is "118.9 mJ", with `digits` significant digits. Without unit the prefix ends
/// the number: "549.8 G".
std::string si(double value, std::string_view unit, int digits = 4);

/// An exact count: in full below a million, with an SI prefix from there on.
std::string si(Wide value, std::string_view unit);

/// part / whole as "12.3 %".
std::string percent(GridSteps part, GridSteps whole);

/// part / whole as a bar of at most `width` columns, in eighths of a column.
std::string bar(GridSteps part, GridSteps whole, std::size_t width);

/// The shortest decimal digits that give the double back: 1e-15.
std::string shortest(double value);

/// The joined texts.
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace joulegrid
