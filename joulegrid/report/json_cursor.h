#pragma once

#include <optional>
#include <string>
#include <utility>

#include "joulegrid/base/json.h"

namespace joulegrid {

/// A value within a document that knows where it stands, so that errors name file and JSON pointer. The document outlives it.
class JsonCursor {
 public:
  JsonCursor(const Json& value, std::string source, std::string pointer = {})
      : value_(&value), source_(std::move(source)), pointer_(std::move(pointer)) {}

  const Json& json() const { return *value_; }
  std::string where() const { return source_ + "#" + pointer_; }
  [[noreturn]] void fail(const std::string& message) const;

  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  JsonCursor at(const std::string& key) const;
  std::optional<JsonCursor> find(const std::string& key) const;

  /// Throws where the value is no object or list.
  const JsonCursor& object() const;
  const JsonCursor& list() const;
  JsonCursor item(std::size_t index) const;

  bool is_null() const { return value_->is_null(); }
  double number() const;
  std::optional<double> number_or_null() const;
  Wide count() const;
  std::string text() const;

 private:
  const Json* value_;
  std::string source_;
  std::string pointer_;
};

}  // namespace joulegrid
