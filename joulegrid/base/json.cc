#include "joulegrid/base/json.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

/// An iterator over characters that leaves its position where it can be seen.
class TracedCharacter {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TracedCharacter(const char* at, const char** position) : at_(at), position_(position) {}

  reference operator*() const { return *at_; }
  TracedCharacter& operator++() {
    *position_ = ++at_;
    return *this;
  }
  bool operator==(const TracedCharacter& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** position_;
};

/// Builds a Json from the parser's events; unlike the library's own builder it keeps integers past 64 bits exact and refuses
/// repeated keys and endless nesting.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const char* const& position, const std::string& source)
      : text_(text), position_(position), source_(source) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    // The parser calls integers past 64 bits floats, and says infinity where a double ends.
    if (digits.find_first_of(".eE") != std::string::npos) return put(value);
    if (digits.front() == '-') throw Error(ErrorCode::bad_input, in_quotes(digits) + " does not fit 128 bits", here());
    return put(parse_wide(digits, here()));
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name))
      throw Error(ErrorCode::bad_input, "the key " + in_quotes(name) + " appears twice", here());
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    std::string reason = error.what();
    if (const auto colon = reason.rfind(": "); colon != std::string::npos) reason = reason.substr(colon + 2);
    throw Error(ErrorCode::bad_input, "not valid JSON: " + shortened_reason(printable(reason)), here());
  }

 private:
  static constexpr std::size_t deepest = 256;

  /// The parser's reasons quote what it read last, which may be anything and of any length.
  static std::string shortened_reason(const std::string& reason) {
    constexpr std::size_t longest = 200;
    return reason.size() <= longest ? reason : reason.substr(0, longest) + "…";
  }

  /// "source:line" of the character that the parser read last; it reads one past a number.
  std::string here() const {
    const char* const last = std::max(position_ - 1, text_.data());
    return source_ + ":" + std::to_string(1 + std::count(text_.data(), last, '\n'));
  }

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
    if (open_.size() == deepest) throw Error(ErrorCode::bad_input, "nested more than 256 deep", here());
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const char* const& position_;
  const std::string& source_;
  Json root_;
  std::vector<Json*> open_;  // a parent never grows while a child of it is open
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  const char* position = text.data();
  Builder builder(text, position, source);
  Json::sax_parse(TracedCharacter(text.data(), &position), TracedCharacter(text.data() + text.size(), &position), &builder);
  return builder.take();
}

std::string json_in_quotes(const Json& value, std::size_t longest) { return in_quotes(value.dump(-1, ' ', true), longest); }

bool same_json(const Json& found, const Json& expected) {
  if (found.type() != expected.type() || found.size() != expected.size()) return false;
  if (!found.is_object()) return found == expected;
  const auto& members = expected.items();
  return std::all_of(members.begin(), members.end(), [&](const auto& member) {
    return found.contains(member.key()) && same_json(found[member.key()], member.value());
  });
}

std::string json_text(const Json& document) {
  // What libraries and paths say need not be UTF-8; a document is.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

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
  throw Error(ErrorCode::bad_input,
              "expected a whole number from 1 to " + to_string(max_size) + ", found " + json_in_quotes(value), where);
}

}  // namespace joulegrid
