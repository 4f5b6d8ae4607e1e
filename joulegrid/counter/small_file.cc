#include "joulegrid/counter/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

Fault fault_of(int error, const std::filesystem::path& path) {
  const FaultKind kind = error == ENOENT || error == ENODEV || error == ENXIO || error == ENOTDIR ? FaultKind::not_present
                         : error == EACCES || error == EPERM                                      ? FaultKind::no_permission
                                                                                                  : FaultKind::source_error;
  return {kind, printable(path.string()) + ": " + std::generic_category().message(error)};
}

}  // namespace

Measured<std::string> read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t most = 4096;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fault_of(errno, path);
  std::string text;
  int error = 0;
  for (;;) {
    std::array<char, most + 1> piece{};
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > most) break;
  }
  close(file);
  if (error != 0) return fault_of(error, path);
  if (text.size() > most) return Fault{FaultKind::malformed, printable(path.string()) + ": longer than 4096 bytes"};
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Measured<std::uint64_t> read_number_file(const std::filesystem::path& path) {
  const Measured<std::string> text = read_small_file(path);
  if (!text) return text.fault();
  const std::string& digits = text.value();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Fault{FaultKind::malformed, printable(path.string()) + ": expected a whole number, found " + in_quotes(digits)};
  }
  return value;
}

}  // namespace joulegrid
