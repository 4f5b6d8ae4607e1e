#pragma once

#include <string>
#include <string_view>

namespace joulegrid {

/// What somebody wrote, as an error message shows it: in quotes, at most 40 characters of it, without control characters.
std::string quoted(std::string_view text);

/// The text with every control character replaced by a blank, so that it is one line and moves no cursor.
std::string printable(std::string text);

}  // namespace joulegrid
