#include "joulegrid/base/json.h"

#include <algorithm>
#include <vector>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

/// Builds a Json from the parser's events; unlike the library's own builder it keeps integers past 64 bits exact and refuses
/// repeated keys and endless nesting.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    // The parser calls integers past 64 bits floats, and says infinity where a double ends.
    if (digits.find_first_of(".eE") != std::string::npos) return put(value);
    if (digits.front() == '-') throw Error(ErrorCode::bad_input, "the integer " + digits + " does not fit", source_);
    return put(parse_wide(digits, source_));
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) throw Error(ErrorCode::bad_input, "the key \"" + name + "\" appears twice", source_);
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    const std::size_t end = std::min(position, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end == 0 ? 0 : end - 1), '\n');
    std::string reason = error.what();
    if (const auto colon = reason.rfind(": "); colon != std::string::npos) reason = reason.substr(colon + 2);
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    throw Error(ErrorCode::bad_input, "not valid JSON: " + reason, source_ + ":" + std::to_string(line));
  }

 private:
  static constexpr std::size_t deepest = 256;

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == deepest) throw Error(ErrorCode::bad_input, "nested more than 256 deep", source_);
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  Json root_;
  std::vector<Json*> open_;  // a parent never grows while a child of it is open
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  Builder builder(text, source);
  Json::sax_parse(text, &builder);
  return builder.take();
}

std::string json_text(const Json& document) { return document.dump(2) + "\n"; }

const Json& json_member(const Json& object, const std::string& key, const std::string& where) {
  if (!object.is_object()) throw Error(ErrorCode::bad_input, "expected an object", where);
  const auto found = object.find(key);
  if (found == object.end()) throw Error(ErrorCode::bad_input, "the key \"" + key + "\" is missing", where);
  return *found;
}

std::uint64_t json_size(const Json& value, const std::string& where) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<Wide>();
    if (number >= 1 && number <= max_size) return static_cast<std::uint64_t>(number);
  }
  throw Error(ErrorCode::bad_input, "expected a whole number from 1 to " + to_string(max_size) + ", found " + value.dump(),
              where);
}

}  // namespace joulegrid
