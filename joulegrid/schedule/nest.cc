#include "joulegrid/schedule/nest.h"

#include <algorithm>
#include <optional>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

std::size_t index(Dimension dimension) { return static_cast<std::size_t>(dimension); }

constexpr std::string_view dimension_letters = "mnk";
constexpr std::string_view operand_letters = "ABC";

/// Reads a nest from left to right and remembers where the last loop of each dimension stands.
class NestParser {
 public:
  NestParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Nest parse() {
    variants();
    for (blanks(); at_ < text_.size(); blanks()) {
      if (text_[at_] == '[') {
        marks();
      } else {
        loop();
      }
    }
    if (nest_.loops.empty()) fail("expected a loop like m8, found nothing", at_);
    std::sort(nest_.marks.begin(), nest_.marks.end());
    return nest_;
  }

  /// After parse().
  void require_cover(const Gemm& gemm) const {
    for (const Dimension dimension : all_dimensions) {
      const std::uint64_t size = size_of(gemm, dimension);
      if (product_[index(dimension)] >= size) continue;
      fail("the trips of " + std::string(1, letter(dimension)) + " multiply to " + to_string(product_[index(dimension)]) +
               " and do not cover its size, " + to_string(size),
           last_[index(dimension)].value_or(text_.size()));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message, std::size_t at) const {
    throw Error(ErrorCode::bad_input, message, source_ + ", column " + std::to_string(at + 1));
  }

  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  /// The characters up to the next blank or mark, for messages.
  std::string word_at(std::size_t at) const {
    constexpr std::size_t longest = 20;
    const std::size_t end = std::min(text_.find_first_of(" [", at + 1), text_.size());
    return "'" + std::string(text_.substr(at, std::min(end - at, longest))) + (end - at > longest ? "…'" : "'");
  }

  bool take_word(std::string_view word) {
    blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && text_[end] != ' ') return false;
    at_ = end;
    return true;
  }

  void variants() {
    for (;;) {
      const std::size_t before = at_;
      bool* const variant = take_word("through") ? &nest_.through : take_word("reflected") ? &nest_.reflected : nullptr;
      if (variant == nullptr) return;
      if (*variant) fail("this word is given twice", text_.find_first_not_of(' ', before));
      *variant = true;
    }
  }

  void loop() {
    const std::size_t begin = at_;
    const std::size_t dimension = dimension_letters.find(text_[begin]);
    if (dimension == std::string_view::npos)
      fail("expected a loop like m8, n8 or k8, or a mark like [A], found " + word_at(begin), begin);
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", begin + 1), text_.size());
    const bool ends_well = end == text_.size() || text_[end] == ' ' || text_[end] == '[';
    if (!ends_well || end == begin + 1) fail("expected a trip count after the dimension, found " + word_at(begin), begin);
    std::uint64_t trips = 0;
    try {
      trips = parse_size(text_.substr(begin + 1, end - begin - 1), "trips");
    } catch (const Error&) {
      fail("expected a trip count from 1 to " + to_string(max_size) + ", found " + word_at(begin), begin);
    }
    if (nest_.loops.size() == max_loops) fail("more than " + std::to_string(max_loops) + " loops", begin);
    Wide& product = product_[dimension];
    product *= trips;
    if (product > max_size) {
      fail("the trips of " + std::string(1, text_[begin]) + " multiply to more than " + to_string(max_size), begin);
    }
    nest_.loops.push_back({static_cast<Dimension>(dimension), trips});
    last_[dimension] = begin;
    at_ = end;
  }

  void marks() {
    const std::size_t begin = at_;
    const std::size_t close = text_.find(']', begin);
    if (close == std::string_view::npos) fail("this mark is not closed by ]", begin);
    if (close == begin + 1) fail("expected an operand A, B or C in the mark", begin + 1);
    for (std::size_t i = begin + 1; i < close; ++i) {
      const std::size_t operand = operand_letters.find(text_[i]);
      if (operand == std::string_view::npos) fail("expected an operand A, B or C, found '" + printable(i, close) + "'", i);
      if (nest_.loops.empty()) fail("a mark before the first loop; the whole array is there already", i);
      const Mark mark{nest_.loops.size(), static_cast<Operand>(operand)};
      if (std::find(nest_.marks.begin(), nest_.marks.end(), mark) != nest_.marks.end()) {
        fail("the same mark " + std::string(1, text_[i]) + " is given twice at this depth", i);
      }
      nest_.marks.push_back(mark);
    }
    at_ = close + 1;
  }

  /// The whole character at byte `i`, where that may be one of several bytes.
  std::string printable(std::size_t i, std::size_t limit) const {
    std::size_t end = i + 1;
    while (end < limit && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;
    return std::string(text_.substr(i, end - i));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  Nest nest_;
  std::array<Wide, 3> product_{1, 1, 1};            // of the trips, by dimension
  std::array<std::optional<std::size_t>, 3> last_;  // where each dimension's last loop stands
};

}  // namespace

char letter(Dimension dimension) { return dimension_letters[index(dimension)]; }

char letter(Operand operand) { return operand_letters[static_cast<std::size_t>(operand)]; }

Axes axes_of(Operand operand) {
  switch (operand) {
    case Operand::a: return {Dimension::m, Dimension::k, Dimension::n};
    case Operand::b: return {Dimension::k, Dimension::n, Dimension::m};
    case Operand::c: return {Dimension::m, Dimension::n, Dimension::k};
  }
  check(false, "unknown operand");
  return {};
}

std::uint64_t size_of(const Gemm& gemm, Dimension dimension) {
  switch (dimension) {
    case Dimension::m: return gemm.m;
    case Dimension::n: return gemm.n;
    case Dimension::k: return gemm.k;
  }
  check(false, "unknown dimension");
  return 0;
}

std::vector<std::size_t> Nest::depths(Operand operand) const {
  std::vector<std::size_t> depths;
  for (const Mark& mark : marks) {
    if (mark.operand == operand) depths.push_back(mark.depth);
  }
  return depths;
}

std::string to_string(const Nest& nest) {
  std::string text = std::string(nest.through ? "through " : "") + (nest.reflected ? "reflected " : "");
  auto mark = nest.marks.begin();
  for (std::size_t depth = 1; depth <= nest.loops.size(); ++depth) {
    const Loop& loop = nest.loops[depth - 1];
    text += (depth > 1 ? " " : "") + std::string(1, letter(loop.dimension)) + to_string(loop.trips);
    std::string operands;
    for (; mark != nest.marks.end() && mark->depth == depth; ++mark) operands += letter(mark->operand);
    if (!operands.empty()) text += " [" + operands + "]";
  }
  return text;
}

Nest parse_nest(std::string_view text, const std::string& source) { return NestParser(text, source).parse(); }

Nest parse_nest(std::string_view text, const std::string& source, const Gemm& gemm) {
  NestParser parser(text, source);
  Nest nest = parser.parse();
  parser.require_cover(gemm);
  return nest;
}

}  // namespace joulegrid
