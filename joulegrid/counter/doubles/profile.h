#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// What a double of a vendor's library says, from a file that an environment variable names. Lines are `key = words`; a line
/// `card` begins the next card. Each call takes the next word of its key and stays at the last one; E3 is the return code 3.
/// `live = 250000 20` makes an energy counter that runs in real time: 250 W in steps of 20 ms.
///
/// Everything is in an unnamed namespace: two doubles in one process share nothing.
namespace {

struct Card {
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::size_t> calls;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();

  bool has(const std::string& key) const { return words.contains(key); }

  std::string next(const std::string& key, const std::string& otherwise) {
    const auto found = words.find(key);
    if (found == words.end() || found->second.empty()) return otherwise;
    const std::size_t call = calls[key]++;
    return found->second[std::min(call, found->second.size() - 1)];
  }

  /// The whole line, for texts with blanks.
  std::string text(const std::string& key) const {
    std::string line;
    if (const auto found = words.find(key); found != words.end()) {
      for (const std::string& word : found->second) line += (line.empty() ? "" : " ") + word;
    }
    return line;
  }

  /// Millijoules of the counter that runs.
  std::optional<std::uint64_t> live() const {
    const auto found = words.find("live");
    if (found == words.end()) return std::nullopt;
    const std::uint64_t milliwatts = std::stoull(found->second.at(0));
    const std::uint64_t tick_ms = std::stoull(found->second.at(1));
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
    return 1'000'000 + static_cast<std::uint64_t>(elapsed.count()) / tick_ms * tick_ms * milliwatts / 1000;
  }
};

/// A word that is a return code, or nothing.
std::optional<int> code_of(const std::string& word) {
  if (word.empty() || word.front() != 'E') return std::nullopt;
  return std::stoi(word.substr(1));
}

std::uint64_t number_of(const std::string& word) { return std::stoull(word, nullptr, 0); }

struct Profile {
  Card library;
  std::vector<Card> cards;

  static Profile read(const char* variable) {
    Profile profile;
    const char* const path = std::getenv(variable);
    std::ifstream file(path == nullptr ? "" : path);
    std::string line;
    Card* at = &profile.library;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string key;
      std::string equals;
      if (!(words >> key)) continue;
      if (key == "card") {
        profile.cards.emplace_back();
        at = &profile.cards.back();
        continue;
      }
      words >> equals;
      std::vector<std::string>& list = at->words[key];
      for (std::string word; words >> word;) list.push_back(word);
    }
    return profile;
  }
};

}  // namespace
