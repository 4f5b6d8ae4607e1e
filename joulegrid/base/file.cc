#include "joulegrid/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// Something that is there and that a rename must not replace: a device, a pipe.
bool is_special(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The file that a link finally names, so that the link stays one.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("cannot open this file", path, errno);
  std::string text;
  for (;;) {
    char buffer[1 << 16];
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read this file", path, errno);
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

void require_writable(const fs::path& path) {
  if (path.empty()) throw Error(ErrorCode::bad_input, "the output file has an empty name");
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail("cannot write this file", path, EISDIR);
  const fs::path probed = is_special(path) ? path : folder_of(resolved(path));
  if (::access(probed.c_str(), W_OK) != 0) fail("cannot write this file", path, errno);
  if (!is_special(path) && !fs::is_directory(probed, ignored)) fail("cannot write this file", path, ENOTDIR);
}

void write_file(const fs::path& path, std::string_view text) {
  require_writable(path);
  if (is_special(path)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) fail("cannot write this file", path, errno);
    if (const int error = write_all(file.get(), text); error != 0) fail("cannot write this file", path, error);
    return;
  }
  const fs::path target = resolved(path);
  std::string temporary = target.string() + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail("cannot write this file", path, errno);
  int error = write_all(file.get(), text);
  struct stat old {};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = ::stat(target.c_str(), &old) == 0 ? (old.st_mode & 07777U) : (0666U & ~mask);
  if (error == 0 && ::fchmod(file.get(), mode) != 0) error = errno;
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (const int closing = file.close(); error == 0) error = closing;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail("cannot write this file", path, error);
  }
}

}  // namespace joulegrid
