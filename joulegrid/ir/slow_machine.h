#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace joulegrid::ir {

/// For tests: prices and runs a program straight from its text, one string and one map look-up at a time, and shares no
/// code with the product. Understands valid programs only.
class SlowMachine {
 public:
  using Integer = __int128;

  enum class Cells { integer, byte };

  explicit SlowMachine(const std::string& text) {
    std::string line;
    for (const char c : text + "\n") {
      if (c != '\n' && c != ';') {
        line += c;
        continue;
      }
      const auto first = line.find_first_not_of(" \t\r\v\f");
      if (first != std::string::npos) lines_.push_back(line.substr(first, line.find_last_not_of(" \t\r\v\f") + 1 - first));
      line.clear();
    }
    for (std::size_t i = 1; i + 1 < lines_.size(); ++i) {
      const std::vector<std::string> words = split(lines_[i]);
      ++mix[words[0]];
      for (const std::uint64_t address : sources(words)) charge(address);
    }
    for (const std::string& address : split(lines_.back())) charge(std::stoull(address));
  }

  Integer steps = 0;
  Integer reads = 0;
  std::map<std::string, std::uint64_t> mix;
  std::map<std::uint64_t, std::uint64_t> histogram;

  /// The output values; none where the instance ends early, and then `failed` is the instruction's number from 0.
  std::optional<std::vector<Integer>> run(const std::vector<std::int64_t>& inputs, Cells cells) {
    std::map<std::uint64_t, Integer> memory;
    const std::vector<std::string> addresses = split(lines_.front());
    for (std::size_t i = 0; i < addresses.size(); ++i) memory[std::stoull(addresses[i])] = wrapped(inputs.at(i), cells);
    for (std::size_t i = 1; i + 1 < lines_.size(); ++i) {
      const std::vector<std::string> words = split(lines_[i]);
      std::vector<Integer> values;
      for (const std::uint64_t address : sources(words)) values.push_back(memory.at(address));
      const std::optional<Integer> result = compute(words, values);
      const bool fits =
          result && *result >= std::numeric_limits<std::int64_t>::min() && *result <= std::numeric_limits<std::int64_t>::max();
      if (!result || (cells == Cells::integer && !fits)) {
        failed = i - 1;
        return std::nullopt;
      }
      memory[std::stoull(words[1])] = wrapped(*result, cells);
    }
    std::vector<Integer> outputs;
    for (const std::string& address : split(lines_.back())) outputs.push_back(memory.at(std::stoull(address)));
    return outputs;
  }

  std::size_t failed = 0;

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::string spaced = line;
    for (char& c : spaced) c = c == ',' ? ' ' : c;
    std::istringstream stream(spaced);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }

  static std::vector<std::uint64_t> sources(const std::vector<std::string>& words) {
    if (words[0] == "set") return {};
    std::vector<std::uint64_t> addresses;
    const bool one = words[0] == "copy" || words[0] == "not" || words[0] == "abs";
    if (words.size() == 3 && !one) addresses.push_back(std::stoull(words[1]));
    for (std::size_t i = 2; i < words.size() - (words[0] == "cmp" ? 1 : 0); ++i) addresses.push_back(std::stoull(words[i]));
    return addresses;
  }

  void charge(std::uint64_t address) {
    auto d = static_cast<Integer>(std::sqrt(static_cast<long double>(address)));
    while (d * d < address) ++d;
    while ((d - 1) * (d - 1) >= address) --d;
    steps += d;
    ++reads;
    ++histogram[static_cast<std::uint64_t>(d)];
  }

  static std::optional<Integer> compute(const std::vector<std::string>& words, const std::vector<Integer>& v) {
    const std::string& op = words[0];
    if (op == "set") return std::stoll(words[2]);
    if (op == "copy") return v[0];
    if (op == "not") return -v[0] - 1;
    if (op == "abs") return v[0] < 0 ? -v[0] : v[0];
    if (op == "add") return v[0] + v[1];
    if (op == "sub") return v[0] - v[1];
    if (op == "mul") return v[0] * v[1];
    if (op == "and") return v[0] & v[1];
    if (op == "or") return v[0] | v[1];
    if (op == "xor") return v[0] ^ v[1];
    if (op == "select") return v[0] != 0 ? v[1] : v[2];
    if (op == "div") {
      if (v[1] == 0) return std::nullopt;
      Integer q = v[0] / v[1];
      while (q * v[1] != v[0] && (v[0] < 0) != (v[1] < 0) && q > v[0] / v[1] - 1) --q;
      return q;
    }
    const std::string& p = words[4];
    const bool holds = p == "eq"   ? v[0] == v[1]
                       : p == "ne" ? v[0] != v[1]
                       : p == "lt" ? v[0] < v[1]
                       : p == "le" ? v[0] <= v[1]
                       : p == "gt" ? v[0] > v[1]
                                   : v[0] >= v[1];
    return holds ? 1 : 0;
  }

  static Integer wrapped(Integer value, Cells cells) {
    if (cells == Cells::integer) return value;
    const Integer low = ((value % 256) + 256) % 256;
    return low < 128 ? low : low - 256;
  }

  std::vector<std::string> lines_;
};

}  // namespace joulegrid::ir
