#include "joulegrid/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  throw Error(ErrorCode::bad_input, std::string(what) + ": " + std::strerror(error), path.string());
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

  /// 0, or the error that closing brought to light.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

/// 0, or the error.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The file that a link finally names, whether it exists or not, so that the link stays one.
fs::path resolved(const fs::path& path) {
  constexpr int most_links = 40;
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == most_links) fail("cannot write this file", path, ELOOP);
    target = folder_of(target) / fs::read_symlink(target, error);
    if (error) fail("cannot write this file", path, error.value());
  }
  return target;
}

}  // namespace

bool is_special(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (is_special(one) || is_special(other)) return false;
  if (fs::equivalent(one, other, error) && !error) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(one), error);
  return !error && first == fs::weakly_canonical(fs::absolute(other), error) && !error;
}

std::size_t MemorySource::read(char* into, std::size_t most) {
  const std::size_t count = std::min(most, rest_.size());
  std::copy_n(rest_.data(), count, into);
  rest_.remove_prefix(count);
  return count;
}

FileSource::FileSource(const fs::path& path) : FileSource(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail("cannot open this file", path, errno);
}

FileSource::~FileSource() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

std::size_t FileSource::read(char* into, std::size_t most) {
  for (;;) {
    const ssize_t count = ::read(fd_, into, most);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail("cannot read this file", path_, errno);
  }
}

void require_writable(const fs::path& path) {
  if (path.empty()) throw Error(ErrorCode::bad_input, "the output file has an empty name");
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail("cannot write this file", path, EISDIR);
  if (fs::exists(path, ignored) && ::access(path.c_str(), W_OK) != 0) fail("cannot write this file", path, errno);
  if (is_special(path)) return;
  const fs::path target = resolved(path);
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) fail("cannot write this file", path, fs::exists(folder, ignored) ? ENOTDIR : ENOENT);
  if (::access(folder.c_str(), W_OK) != 0) fail("cannot write to the folder of this file", path, errno);
  const long longest = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  if (longest > 0 && target.filename().native().size() > static_cast<std::size_t>(longest)) {
    fail("cannot write this file", path, ENAMETOOLONG);
  }
}

struct FileSink::State {
  fs::path path;          ///< as the caller named it
  fs::path target;        ///< what is replaced; empty where `path` is written to directly
  std::string temporary;  ///< what replaces it
  Descriptor file;
};

FileSink::FileSink(const fs::path& path) {
  require_writable(path);
  const bool direct = is_special(path);
  fs::path target = direct ? fs::path() : resolved(path);
  std::string temporary = (folder_of(target) / ".joulegrid-XXXXXX").string();
  const int fd = direct ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC) : ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) fail("cannot write this file", path, errno);
  state_.reset(new State{path, std::move(target), std::move(temporary), Descriptor(fd)});
}

FileSink::~FileSink() {
  if (state_ && !state_->target.empty()) ::unlink(state_->temporary.c_str());
}

void FileSink::write(std::string_view bytes) {
  check(state_ != nullptr, "a file is written before it is committed");
  if (const int error = write_all(state_->file.get(), bytes); error != 0) fail("cannot write this file", state_->path, error);
}

void FileSink::commit() {
  check(state_ != nullptr, "a file is committed once");
  int error = 0;
  if (!state_->target.empty()) {
    struct stat old {};
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const mode_t mode = ::stat(state_->target.c_str(), &old) == 0 ? (old.st_mode & 07777U) : (0666U & ~mask);
    if (::fchmod(state_->file.get(), mode) != 0) error = errno;
    if (error == 0 && ::fsync(state_->file.get()) != 0) error = errno;
  }
  if (const int closing = state_->file.close(); error == 0) error = closing;
  if (!state_->target.empty() && error == 0 && ::rename(state_->temporary.c_str(), state_->target.c_str()) != 0) error = errno;
  if (error != 0) fail("cannot write this file", state_->path, error);
  state_.reset();
}

LogSink::LogSink(const fs::path& path)
    : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (fd_ < 0) fail("cannot write this file", path_, errno);
}

LogSink::~LogSink() { ::close(fd_); }

void LogSink::write(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes); error != 0) fail("cannot write this file", path_, error);
}

std::string read_file(const fs::path& path, std::size_t largest) {
  FileSource file(path);
  std::string text;
  for (;;) {
    char buffer[1 << 16];
    const std::size_t count = file.read(buffer, sizeof buffer);
    if (count == 0) return text;
    if (text.size() + count > largest) {
      throw Error(ErrorCode::bad_input,
                  "this file is larger than " + std::to_string(largest >> 20) + " MiB, which no document of this program is",
                  path.string());
    }
    text.append(buffer, count);
  }
}

void write_file(const fs::path& path, std::string_view text) {
  FileSink file(path);
  file.write(text);
  file.commit();
}

}  // namespace joulegrid
