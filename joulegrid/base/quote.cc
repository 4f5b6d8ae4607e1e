#include "joulegrid/base/quote.h"

#include <algorithm>

namespace joulegrid {

std::string in_quotes(std::string_view text, std::size_t longest) {
  std::size_t end = 0;
  std::size_t characters = 0;
  for (; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_character && characters++ == longest) break;
  }
  return "'" + printable(std::string(text.substr(0, end))) + (end < text.size() ? "…'" : "'");
}

std::string printable(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

}  // namespace joulegrid
