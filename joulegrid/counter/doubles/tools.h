#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "joulegrid/base/error.h"
#include "joulegrid/counter/time_source.h"

namespace joulegrid {

/// Time that passes only in sleep_for.
class VirtualTime final : public TimeSource {
 public:
  Instant now() override { return now_; }

  void sleep_for(std::chrono::nanoseconds duration) override {
    now_ += duration;
    if (while_asleep) while_asleep();
  }

  std::function<void()> while_asleep;  ///< what goes on meanwhile

 private:
  Instant now_{std::chrono::hours(1)};
};

/// An empty folder that goes with the value.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "joulegrid-XXXXXX").string();
    check(mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file, and the folders that it is in.
  std::filesystem::path write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream stream(path_ / file);
    stream << text;
    stream.close();
    check(stream.good(), "a file in a temporary folder can be written");
    return path_ / file;
  }

 private:
  std::filesystem::path path_;
};

/// An environment variable while the value lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// What a double says (doubles/profile.h) while the value lives.
class DoubleSays {
 public:
  DoubleSays(const char* variable, const std::string& profile)
      : variable_(variable, folder_.write("profile", profile).string()) {}

 private:
  TemporaryFolder folder_;
  Variable variable_;
};

}  // namespace joulegrid
