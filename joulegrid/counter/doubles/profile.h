#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// What a double of a vendor's library says, from a file that an environment variable names. Lines are `key = words`; a line
/// `card` begins the next card. Each call takes the next word of its key and stays at the last one; E3 is the return code 3.
/// `live = 250000 20` makes an energy counter that runs in real time: 250 W in steps of 20 ms. `live = 0:60000 500:300000
/// 1500:60000 20` changes the power at so many ms. `follow = FILE 20` takes the power in mW from what the file says at each
/// moment, so that work can say how much it draws.
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

  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
  }

  /// Millijoules of the counter that runs, as it was at its last tick.
  std::optional<std::uint64_t> live() const {
    constexpr std::uint64_t before = 1'000'000;
    if (followed) return before + followed->millijoules();
    const auto found = words.find("live");
    if (found == words.end()) return std::nullopt;
    const std::int64_t tick_ms = std::stoll(found->second.back());
    const std::int64_t now = elapsed().count() / tick_ms * tick_ms;
    std::uint64_t microjoules = 0;
    for (std::size_t i = 0; i + 1 < found->second.size(); ++i) {
      const auto [begin, milliwatts] = step(found->second[i]);
      const bool last = i + 2 == found->second.size();
      const std::int64_t end = last ? now : std::min(now, step(found->second[i + 1]).first);
      if (end > begin) microjoules += static_cast<std::uint64_t>(end - begin) * milliwatts;
    }
    return before + microjoules / 1000;
  }

  /// Milliwatts at this moment, of a counter that runs.
  std::optional<std::uint64_t> live_power() const {
    if (followed) return followed->milliwatts();
    const auto found = words.find("live");
    if (found == words.end()) return std::nullopt;
    std::uint64_t milliwatts = 0;
    for (std::size_t i = 0; i + 1 < found->second.size(); ++i) {
      if (step(found->second[i]).first <= elapsed().count()) milliwatts = step(found->second[i]).second;
    }
    return milliwatts;
  }

  /// Adds up the power that a file tells, a thousand times a second.
  class Followed {
   public:
    Followed(std::string file, std::chrono::milliseconds tick)
        : file_(std::move(file)), tick_(tick), thread_([this](const std::stop_token& stop) { follow(stop); }) {}

    std::uint64_t millijoules() const { return latched_mj_; }
    std::uint64_t milliwatts() const { return milliwatts_; }

   private:
    void follow(const std::stop_token& stop) {
      auto last = std::chrono::steady_clock::now();
      auto next_tick = last + tick_;
      std::uint64_t picojoules = 0;  // mW times ns
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const auto now = std::chrono::steady_clock::now();
        picojoules += milliwatts_ * static_cast<std::uint64_t>((now - last).count());
        last = now;
        std::uint64_t milliwatts = 0;
        if (std::ifstream(file_) >> milliwatts) milliwatts_ = milliwatts;  // between two contents a file may be empty
        if (now >= next_tick) {
          latched_mj_ = picojoules / 1'000'000'000;
          next_tick += tick_;
        }
      }
    }

    std::string file_;
    std::chrono::milliseconds tick_;
    std::atomic<std::uint64_t> milliwatts_{0};
    std::atomic<std::uint64_t> latched_mj_{0};
    std::jthread thread_;
  };
  std::shared_ptr<Followed> followed;

  void begin() {
    if (const auto found = words.find("follow"); found != words.end()) {
      followed = std::make_shared<Followed>(found->second.at(0), std::chrono::milliseconds(std::stoll(found->second.at(1))));
    }
  }

 private:
  /// "500:300000", or "300000" from the beginning on: since when, how much.
  static std::pair<std::int64_t, std::uint64_t> step(const std::string& word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) return {0, std::stoull(word)};
    return {std::stoll(word.substr(0, colon)), std::stoull(word.substr(colon + 1))};
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
    for (Card& card : profile.cards) card.begin();
    return profile;
  }
};

}  // namespace
