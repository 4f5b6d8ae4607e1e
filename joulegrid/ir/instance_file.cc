#include "joulegrid/ir/instance_file.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/text_cursor.h"

namespace joulegrid::ir {

namespace {

static_assert(std::endian::native == std::endian::little, "raw values are little-endian");

/// Fills `bytes` from the source as far as it goes; the number of bytes read.
std::size_t read_fully(ByteSource& source, std::span<char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t count = source.read(bytes.data() + done, bytes.size() - done);
    if (count == 0) break;
    done += count;
  }
  return done;
}

template <typename To, typename From>
std::vector<To> converted(const std::vector<From>& values) {
  std::vector<To> all;
  all.reserve(values.size());
  for (const From value : values) all.push_back(static_cast<To>(value));
  return all;
}

}  // namespace

std::optional<ValueFormat> find_value_format(std::string_view name) {
  if (name == "text") return ValueFormat::text;
  if (name == "i8") return ValueFormat::i8;
  if (name == "i64") return ValueFormat::i64;
  return std::nullopt;
}

template <typename Value>
struct InstanceReader<Value>::State {
  State(ByteSource& bytes, std::string source_name, ValueFormat value_format, std::size_t values)
      : source(bytes), name(std::move(source_name)), format(value_format), each(values), text(source, name) {}

  /// One line of text; false at the end.
  bool read_line(std::vector<Value>& values) {
    for (;;) {
      text.skip_blanks();
      const int byte = text.peek();
      if (byte == TextCursor::end) return false;
      if (byte == '\n') {
        text.skip_newline();
      } else if (byte == '\r') {
        text.skip();
      } else {
        break;
      }
    }
    std::size_t count = 0;
    do {
      if (count == each) fail_count("more");
      values.push_back(static_cast<Value>(text.integer("an integer")));
      ++count;
    } while (text.skip_comma());
    while (text.peek() == '\r') text.skip();
    if (text.peek() != '\n' && text.peek() != TextCursor::end) text.fail_expecting("a comma or the end of the line");
    if (count != each) fail_count(std::to_string(count));
    return true;
  }

  [[noreturn]] void fail_count(const std::string& found) {
    text.fail("expected " + std::to_string(each) + " values, one for each input of the program, found " + found);
  }

  template <typename Raw>
  std::vector<Raw> read_raw(std::size_t most) {
    std::vector<Raw> values(most * each);
    const std::size_t count = read_fully(source, {reinterpret_cast<char*>(values.data()), values.size() * sizeof(Raw)});
    if (count % (each * sizeof(Raw)) != 0) {
      throw Error(ErrorCode::bad_input,
                  "the file ends within instance " + std::to_string(instances + count / (each * sizeof(Raw))) + "; each has " +
                      std::to_string(each) + " values of " + std::to_string(sizeof(Raw)) + " bytes",
                  name);
    }
    values.resize(count / sizeof(Raw));
    return values;
  }

  ByteSource& source;
  std::string name;
  ValueFormat format;
  std::size_t each;
  TextCursor text;
  std::uint64_t instances = 0;  // read before
};

template <typename Value>
InstanceReader<Value>::InstanceReader(ByteSource& source, std::string name, ValueFormat format, std::size_t each)
    : state_(std::make_unique<State>(source, std::move(name), format, each)) {}

template <typename Value>
InstanceReader<Value>::~InstanceReader() = default;

template <typename Value>
std::vector<Value> InstanceReader<Value>::read(std::size_t most) {
  std::vector<Value> values;
  switch (state_->format) {
    case ValueFormat::text:
      while (values.size() < most * state_->each && state_->read_line(values)) {
      }
      break;
    case ValueFormat::i8: values = converted<Value>(state_->template read_raw<std::int8_t>(most)); break;
    case ValueFormat::i64: values = converted<Value>(state_->template read_raw<std::int64_t>(most)); break;
  }
  state_->instances += values.size() / state_->each;
  return values;
}

template <typename Value>
void InstanceWriter<Value>::write(const RunResult<Value>& result) {
  std::string bytes;
  const auto put_text = [&](Value value) {
    std::array<char, 24> digits;
    bytes.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  };
  const auto put_raw = [&](auto raw) { bytes.append(reinterpret_cast<const char*>(&raw), sizeof raw); };
  auto failure = result.failures.begin();
  for (std::uint64_t i = 0; i < result.instances; ++i) {
    const bool failed = failure != result.failures.end() && failure->instance == i;
    if (failed) ++failure;
    for (std::size_t o = 0; o < each_; ++o) {
      const Value value = result.outputs[i * each_ + o];
      if (format_ == ValueFormat::text) {
        if (o != 0 && !failed) bytes += ',';
        if (!failed) put_text(value);
      } else if (format_ == ValueFormat::i64) {
        put_raw(static_cast<std::int64_t>(value));
      } else if (value != static_cast<std::int8_t>(value)) {
        throw Error(ErrorCode::bad_input, "the output " + std::to_string(value) + " of instance " +
                                              std::to_string(written_ + i) + " does not fit 8 bits; write another format");
      } else {
        put_raw(static_cast<std::int8_t>(value));
      }
    }
    if (format_ == ValueFormat::text) bytes += '\n';
  }
  sink_.write(bytes);
  written_ += result.instances;
}

template class InstanceReader<std::int8_t>;
template class InstanceReader<std::int64_t>;
template class InstanceWriter<std::int8_t>;
template class InstanceWriter<std::int64_t>;

}  // namespace joulegrid::ir
