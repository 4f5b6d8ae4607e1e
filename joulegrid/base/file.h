#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace joulegrid {

/// The whole file; throws Error(bad_input, where = the path) where it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes the file so that a reader sees the old content or the new one, never a part: a new file beside it is renamed
/// over it. What is not a regular file (a pipe, a terminal) is written to directly. Throws Error(bad_input, where = the
/// path) and leaves the old file as it was where that fails.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Throws the error that write_file would end in, as far as it can be known before the work; touches nothing.
void require_writable(const std::filesystem::path& path);

}  // namespace joulegrid
