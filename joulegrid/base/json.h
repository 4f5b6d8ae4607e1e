#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "joulegrid/base/wide.h"

namespace joulegrid {

/// A JSON value that keeps the order of its keys and integers of 128 bits exactly. Not installed: the public interface
/// speaks text.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, __int128, Wide, double>;

/// Reads one document. Integers are exact or an error, keys must not repeat. Throws Error(bad_input) with `source` and the
/// line in `where`.
Json parse_json(std::string_view text, const std::string& source);

/// The document as text, indented by two blanks, with a final newline; doubles have the digits that give them back.
std::string json_text(const Json& document);

/// A value as an error message shows it.
std::string json_in_quotes(const Json& value, std::size_t longest = 40);

/// Whether the document's value is the expected one: objects whatever the order of their keys, numbers also of one type.
bool same_json(const Json& found, const Json& expected);

/// The member `key` of an object; throws Error(bad_input, where = "source#/pointer") where it is missing.
const Json& json_member(const Json& object, const std::string& key, const std::string& where);

/// A size (1 to max_size) stored at `where`; throws Error(bad_input) for anything else.
std::uint64_t json_size(const Json& value, const std::string& where);

}  // namespace joulegrid
