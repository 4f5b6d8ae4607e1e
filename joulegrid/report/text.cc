#include "joulegrid/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

std::string dressed(bool colour, const char* code, std::string_view text) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

double share(GridSteps part, GridSteps whole) {
  return whole.count() == 0 ? 0.0 : rounded_quotient(part.count(), whole.count());
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::string TextStyle::bold(std::string_view text) const { return dressed(colour, "1", text); }
std::string TextStyle::dim(std::string_view text) const { return dressed(colour, "2", text); }
std::string TextStyle::accent(std::string_view text) const { return dressed(colour, "36", text); }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size() - 1);
    } else if (begins_character(text[i])) {
      ++width;
    }
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t characters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (begins_character(text[end]) && characters++ == width - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string wrapped(std::string_view text, std::string_view head, std::size_t indent) {
  std::string out(head);
  std::size_t width = display_width(head);
  bool begun = false;  // the line has a word
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (begun && width + 1 + display_width(word) > text_width) {
      out += "\n" + std::string(indent, ' ');
      width = indent;
      begun = false;
    }
    out += (begun ? " " : "") + std::string(word);
    width += (begun ? 1 : 0) + display_width(word);
    begun = true;
  }
  return out + "\n";
}

std::string grouped(Wide value) {
  std::string digits = to_string(value);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string si(double value, std::string_view unit, int digits) {
  check(value >= 0 && std::isfinite(value), "si takes finite values from zero on");
  static constexpr std::array<const char*, 21> prefixes{"q", "r", "y", "z", "a", "f", "p", "n", "µ", "m", "",
                                                        "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"};
  constexpr int unity = 10;
  int prefix = unity;
  if (value > 0) {
    // The digits decide, not the logarithm: 999.96 with four of them is 1.000 k.
    const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
    const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
    prefix = std::clamp(unity + static_cast<int>(std::floor(exponent / 3.0)), 0, static_cast<int>(prefixes.size()) - 1);
  }
  const double scaled = value / std::pow(10.0, 3 * (prefix - unity));
  const int before_point = scaled < 10 ? 1 : scaled < 100 ? 2 : 3;
  std::string number = fmt::format("{:.{}f}", scaled, std::max(0, digits - before_point));
  // Rounding may have carried into one more digit before the point.
  if (number.size() > static_cast<std::size_t>(digits) + 1 && number.find('.') != std::string::npos) {
    number.pop_back();
    if (number.back() == '.') number.pop_back();
  }
  const std::string suffix = prefixes.at(static_cast<std::size_t>(prefix)) + std::string(unit);
  return suffix.empty() ? number : number + " " + suffix;
}

std::string si(Wide value, std::string_view unit) {
  if (value >= 1'000'000) return si(static_cast<double>(value), unit);
  return unit.empty() ? grouped(value) : grouped(value) + " " + std::string(unit);
}

std::string percent(GridSteps part, GridSteps whole) { return fmt::format("{:.1f} %", 100 * share(part, whole)); }

std::string bar(GridSteps part, GridSteps whole, std::size_t width) {
  static constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto length = static_cast<std::size_t>(std::lround(share(part, whole) * 8.0 * static_cast<double>(width)));
  std::string text;
  for (std::size_t i = 0; i < length / 8; ++i) text += "█";
  return text + eighths.at(length % 8);
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace joulegrid
