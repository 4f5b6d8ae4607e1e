#include "joulegrid/report/json_cursor.h"

#include <cmath>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

/// A key as a part of a JSON pointer (RFC 6901).
std::string escaped(const std::string& key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

}  // namespace

void JsonCursor::fail(const std::string& message) const { throw Error(ErrorCode::bad_input, message, where()); }

JsonCursor JsonCursor::at(const std::string& key) const {
  return {json_member(*value_, key, where()), source_, pointer_ + "/" + escaped(key)};
}

std::optional<JsonCursor> JsonCursor::find(const std::string& key) const {
  return has(key) ? std::optional(at(key)) : std::nullopt;
}

const JsonCursor& JsonCursor::object() const {
  if (!value_->is_object()) fail("expected an object, found " + json_in_quotes(*value_));
  return *this;
}

const JsonCursor& JsonCursor::list() const {
  if (!value_->is_array()) fail("expected a list, found " + json_in_quotes(*value_));
  return *this;
}

JsonCursor JsonCursor::item(std::size_t index) const {
  if (index >= list().json().size()) fail("the list has no item " + std::to_string(index));
  return {(*value_)[index], source_, pointer_ + "/" + std::to_string(index)};
}

double JsonCursor::number() const {
  if (!value_->is_number()) fail("expected a number, found " + json_in_quotes(*value_));
  const auto number = value_->get<double>();
  if (!std::isfinite(number)) fail("expected a finite number");
  return number;
}

std::optional<double> JsonCursor::number_or_null() const { return is_null() ? std::nullopt : std::optional(number()); }

Wide JsonCursor::count() const {
  if (!value_->is_number_unsigned()) fail("expected a count, found " + json_in_quotes(*value_));
  return value_->get<Wide>();
}

std::string JsonCursor::text() const {
  if (!value_->is_string()) fail("expected a text, found " + json_in_quotes(*value_));
  return value_->get<std::string>();
}

}  // namespace joulegrid
