#pragma once

#include <string>
#include <string_view>

namespace joulegrid {

/// What somebody wrote, as an error message shows it: in quotes, at most `longest` characters of it, without control
/// characters.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

/// The text with every control character replaced by a blank, so that it is one line and moves no cursor.
std::string printable(std::string text);

}  // namespace joulegrid
