#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"
#include "joulegrid/process/program.h"

namespace joulegrid {

namespace {

/// Walks along a command line and collects its words.
class Splitter {
 public:
  Splitter(std::string_view line, const std::string& where) : line_(line), where_(where) {}

  std::vector<std::string> words() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      switch (c) {
        case ' ':
        case '\t':
        case '\n': end_word(); break;
        case '\'': single_quoted(); break;
        case '"': double_quoted(); break;
        case '\\': escaped(); break;
        default: add(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  void single_quoted() {
    const std::size_t end = line_.find('\'', at_);
    if (end == std::string_view::npos) fail("a single quote is not closed");
    word_ += line_.substr(at_, end - at_);
    in_word_ = true;
    at_ = end + 1;
  }

  void double_quoted() {
    in_word_ = true;
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
      if (c != '\\' || std::string_view("$`\"\\\n").find(next) == std::string_view::npos) {
        word_ += c;
        continue;
      }
      ++at_;
      if (next != '\n') word_ += next;
    }
    fail("a double quote is not closed");
  }

  void escaped() {
    if (at_ == line_.size()) fail("the backslash at the end has nothing to keep");
    const char c = line_[at_++];
    if (c != '\n') add(c);
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_input, what + " in " + in_quotes(line_), where_);
  }

  std::string_view line_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;  ///< an empty word in quotes is one, too
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> split_words(std::string_view line, const std::string& where) {
  if (line.find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::bad_input, "a command line cannot hold a zero byte", where);
  }
  return Splitter(line, where).words();
}

ProgramCall shell_call(const std::string& line) { return {{"/bin/sh", "-c", line}}; }

}  // namespace joulegrid
