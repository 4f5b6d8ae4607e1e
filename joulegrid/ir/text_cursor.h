#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "joulegrid/base/file.h"

namespace joulegrid::ir {

/// Reads a text from front to back through a buffer of fixed size, whatever the length of its lines and numbers; knows the
/// line it is in.
///
/// Behind the buffered bytes stands a zero byte. So the usual byte needs no test for the end of the buffer: only a zero byte
/// is looked at twice.
class TextCursor {
 public:
  /// What peek() returns at the end of the text.
  static constexpr int end = -1;

  /// `name` stands for the source in errors: "name:line".
  TextCursor(ByteSource& source, std::string name);

  /// The next byte (0 to 255) or `end`; stays before it.
  int peek() {
    const auto byte = static_cast<unsigned char>(*next_);
    return byte != 0 ? byte : peek_at_zero();
  }

  /// Steps over the byte that peek() returned.
  void skip() { ++next_; }

  /// Steps over the line's end that peek() returned.
  void skip_newline() {
    ++next_;
    ++line_;
  }

  /// Space, tab, vertical tab and form feed are blanks.
  static bool is_blank(int byte) { return byte == ' ' || (byte >= '\t' && byte <= '\f' && byte != '\n'); }

  /// Steps over blanks.
  void skip_blanks() {
    while (static_cast<unsigned char>(*next_) <= ' ' && is_blank(peek())) skip();
  }

  /// Steps over blanks, one comma and blanks; false, and only blanks are stepped over, where there is no comma.
  bool skip_comma() {
    if (*next_ != ',') {
      if (*next_ == '\n') return false;
      skip_blanks();
      if (peek() != ',') return false;
    }
    skip();
    skip_blanks();
    return true;
  }

  /// Reads a lower-case word of up to eight letters: its bytes as a number, the first one lowest. A longer one reads as a
  /// number that is no word's; none as 0.
  std::uint64_t word() {
    const std::uint64_t bytes = eight_bytes();
    const int letters = leading(non_letters(bytes));
    if (letters <= 7 && next_ + letters != buffered_end_) {
      next_ += letters;
      return bytes & ((std::uint64_t{1} << (8 * letters)) - 1);
    }
    return long_word();
  }

  /// Reads decimal digits, a number below 2^64. `what` is what the error says it expected.
  std::uint64_t number(const char* what) {
    const std::uint64_t bytes = eight_bytes();
    const int digits = leading(non_digits(bytes));
    if (digits >= 1 && digits <= 7 && next_ + digits != buffered_end_) {
      next_ += digits;
      return value_of(bytes, digits);
    }
    return long_number(what);
  }

  /// Reads an integer that may have a minus sign and fits 64 bits.
  std::int64_t integer(const char* what);

  /// The line, from 1.
  std::uint64_t line() const { return line_; }

  /// Throws Error(bad_input, where = "name:line").
  [[noreturn, gnu::cold]] void fail(const std::string& message) const { fail_at(line_, message); }
  [[noreturn, gnu::cold]] void fail_at(std::uint64_t line, const std::string& message) const;

  /// Throws the error that says what was expected here and what is here.
  [[noreturn, gnu::cold]] void fail_expecting(std::string_view what);

 private:
  /// The next eight bytes, the first one lowest; zeros stand behind the buffered ones.
  std::uint64_t eight_bytes() const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, next_, sizeof bytes);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    return bytes;
  }

  static constexpr std::uint64_t every_byte = 0x0101010101010101U;

  /// The high bit of each byte says that it is no digit; true up to the first one that is none.
  static std::uint64_t non_digits(std::uint64_t bytes) {
    const std::uint64_t digits = bytes ^ every_byte * '0';
    return ((digits + every_byte * (0x80 - 10)) | digits) & every_byte * 0x80;
  }

  /// The same for lower-case letters.
  static std::uint64_t non_letters(std::uint64_t bytes) {
    const std::uint64_t letters = bytes ^ every_byte * 0x60;  // a to z are now 1 to 26
    return (~(letters + every_byte * 0x7F) | (letters + every_byte * (0x80 - 27)) | letters) & every_byte * 0x80;
  }

  /// How many bytes come before the first marked one; 8 where none is marked.
  static int leading(std::uint64_t marks) { return marks == 0 ? 8 : __builtin_ctzll(marks) / 8; }

  /// The value of the first 1 to 7 bytes, which are digits: pairs of digits, then of pairs, then of those.
  static std::uint64_t value_of(std::uint64_t bytes, int digits) {
    std::uint64_t value = (bytes & every_byte * 0x0F) << (8 * (8 - digits));
    value = (value * 10 + (value >> 8)) & 0x00FF00FF00FF00FFU;
    value = (value * 100 + (value >> 16)) & 0x0000FFFF0000FFFFU;
    return (value * 10000 + (value >> 32)) & 0xFFFFFFFFU;
  }

  int peek_at_zero();
  bool refill();
  std::uint64_t long_word();
  std::uint64_t long_number(const char* what);

  ByteSource& source_;
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  const char* next_;
  const char* buffered_end_;
  bool all_read_ = false;  // the source has said so
  std::uint64_t line_ = 1;
};

}  // namespace joulegrid::ir
