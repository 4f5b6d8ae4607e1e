#include "joulegrid/ir/text_cursor.h"

#include <limits>
#include <utility>

#include "joulegrid/base/error.h"

namespace joulegrid::ir {

namespace {

constexpr std::size_t buffer_size = 1 << 16;
constexpr std::size_t padding = 8;  // what eight_bytes() may read past the end

bool is_digit(int byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(int byte) { return byte >= 'a' && byte <= 'z'; }

}  // namespace

TextCursor::TextCursor(ByteSource& source, std::string name)
    : source_(source),
      name_(std::move(name)),
      buffer_(std::make_unique_for_overwrite<char[]>(buffer_size + padding)),
      next_(buffer_.get()),
      buffered_end_(buffer_.get()) {
  std::memset(buffer_.get(), 0, padding);
}

int TextCursor::peek_at_zero() {
  if (next_ != buffered_end_) return 0;
  return refill() ? static_cast<unsigned char>(*next_) : end;
}

bool TextCursor::refill() {
  const std::size_t count = all_read_ ? 0 : source_.read(buffer_.get(), buffer_size);
  all_read_ = count == 0;
  std::memset(buffer_.get() + count, 0, padding);
  next_ = buffer_.get();
  buffered_end_ = next_ + count;
  return count != 0;
}

std::uint64_t TextCursor::long_word() {
  std::uint64_t word = 0;
  int letters = 0;
  for (int byte = peek(); is_letter(byte); byte = peek()) {
    if (letters == 8) return ~std::uint64_t{0};
    word |= static_cast<std::uint64_t>(byte) << (8 * letters++);
    skip();
  }
  return word;
}

std::uint64_t TextCursor::long_number(const char* what) {
  if (!is_digit(peek())) fail_expecting(what);
  std::uint64_t value = 0;
  for (int byte = peek(); is_digit(byte); byte = peek()) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<std::uint64_t>(byte - '0'), &value)) {
      fail("expected " + std::string(what) + ", found a number of 2^64 or more");
    }
    skip();
  }
  return value;
}

std::int64_t TextCursor::integer(const char* what) {
  const bool negative = peek() == '-';
  if (negative) skip();
  const std::uint64_t magnitude = number(what);
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  if (magnitude > limit) fail("expected " + std::string(what) + ", found one that does not fit 64 bits");
  return static_cast<std::int64_t>(negative ? -magnitude : magnitude);
}

void TextCursor::fail_at(std::uint64_t line, const std::string& message) const {
  throw Error(ErrorCode::bad_input, message, name_ + ":" + std::to_string(line));
}

void TextCursor::fail_expecting(std::string_view what) {
  const int byte = peek();
  std::string found;
  if (byte == end) {
    found = "the end of the text";
  } else if (byte == '\n' || byte == ';' || byte == '\r') {
    found = "the end of the line";
  } else if (byte > ' ' && byte < 0x7F) {
    found = {'\'', static_cast<char>(byte), '\''};
  } else {
    constexpr char digits[] = "0123456789abcdef";
    found = std::string("the byte 0x") + digits[byte / 16] + digits[byte % 16];
  }
  fail("expected " + std::string(what) + ", found " + found);
}

}  // namespace joulegrid::ir
