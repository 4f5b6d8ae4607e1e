#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace joulegrid {

/// Bytes that come one piece at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills the front of `into` with up to `most` > 0 bytes and returns how many; 0 only at the end.
  virtual std::size_t read(char* into, std::size_t most) = 0;
};

/// The bytes of a text that outlives the source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : rest_(text) {}
  std::size_t read(char* into, std::size_t most) override;

 private:
  std::string_view rest_;
};

/// The bytes of a file. Throws Error(bad_input, where = the path) where it cannot be read.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  std::size_t read(char* into, std::size_t most) override;

  /// For poll(2).
  int descriptor() const { return fd_; }

  /// What comes in on standard input.
  static FileSource standard_input() { return {"standard input", 0}; }

 private:
  FileSource(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::filesystem::path path_;
  int fd_;
};

/// Whether the path is of something that is there and is neither a regular file nor a folder: a device, a pipe, a terminal.
bool is_special(const std::filesystem::path& path);

/// Whether two paths are of the same regular file, or would be if it were there.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other);

/// Somewhere that bytes go, one piece at a time.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// Collects the bytes in a string.
class MemorySink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }

  std::string text;
};

/// A file that grows piece by piece and that a reader sees whole or not at all: a new file beside `path`, which commit()
/// renames over the old one (only if that may be written); without commit() nothing changes. What is not a regular file (a
/// pipe, a terminal) is written to directly. Throws Error(bad_input, where = the path) where something fails.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::filesystem::path& path);
  ~FileSink() override;
  void write(std::string_view bytes) override;
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A file that grows piece by piece and has each of them as soon as it is written, so that nothing is lost with the process;
/// what was in it before is gone at once. Throws Error(bad_input, where = the path) where something fails.
class LogSink final : public ByteSink {
 public:
  explicit LogSink(const std::filesystem::path& path);
  ~LogSink() override;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  void write(std::string_view bytes) override;

 private:
  std::filesystem::path path_;
  int fd_;
};

/// More than any document of this program has.
inline constexpr std::size_t largest_document = std::size_t{64} << 20;

/// The whole file; throws Error(bad_input, where = the path) where it cannot be read or is larger than that.
std::string read_file(const std::filesystem::path& path, std::size_t largest = largest_document);

/// Writes the file so that a reader sees the old content or the new one, never a part, as FileSink does. Throws
/// Error(bad_input, where = the path) and leaves the old file as it was where that fails.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Throws the error that write_file would end in, as far as it can be known before the work; touches nothing.
void require_writable(const std::filesystem::path& path);

}  // namespace joulegrid
