#include "joulegrid/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() { fs::create_directories(folder_); }
  ~FileTest() override { fs::remove_all(folder_); }

  fs::path folder_ = fs::temp_directory_path() / ("joulegrid_file_test_" + std::to_string(::getpid()));
};

TEST_F(FileTest, what_is_written_reads_back_and_nothing_else_is_left_in_the_folder) {
  const std::string text("a\0b\n", 4);
  write_file(folder_ / "x", text);
  write_file(folder_ / "x", text + text);
  EXPECT_EQ(read_file(folder_ / "x"), text + text);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, keeps_the_mode_of_the_old_file_and_a_link_stays_a_link) {
  write_file(folder_ / "x", "old");
  ASSERT_EQ(::chmod((folder_ / "x").c_str(), 0600), 0);
  fs::create_symlink("x", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "x"), "new");
  EXPECT_EQ(fs::status(folder_ / "x").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, a_file_written_piece_by_piece_appears_whole_or_not_at_all) {
  write_file(folder_ / "x", "old");
  {
    FileSink abandoned(folder_ / "x");
    abandoned.write("half");
  }
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  FileSink file(folder_ / "x");
  file.write("one ");
  file.write("two");
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  file.commit();
  EXPECT_EQ(read_file(folder_ / "x"), "one two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, a_source_gives_its_bytes_in_pieces_of_any_size) {
  write_file(folder_ / "x", "abcdefg");
  FileSource file(folder_ / "x");
  MemorySource memory("abcdefg");
  for (ByteSource* source : {static_cast<ByteSource*>(&file), static_cast<ByteSource*>(&memory)}) {
    std::string text;
    char piece[3];
    while (const std::size_t count = source->read(piece, sizeof piece)) text.append(piece, count);
    EXPECT_EQ(text, "abcdefg");
  }
}

TEST_F(FileTest, a_link_to_nothing_yet_names_the_new_file_and_a_loop_is_refused) {
  fs::create_symlink("new", folder_ / "link");
  write_file(folder_ / "link", "text");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "new"), "text");
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_THROW(write_file(folder_ / "loop", "text"), Error);
  EXPECT_TRUE(fs::is_symlink(folder_ / "loop"));
}

TEST_F(FileTest, takes_every_name_that_the_file_system_takes) {
  write_file(folder_ / std::string(255, 'n'), "text");
  EXPECT_EQ(read_file(folder_ / std::string(255, 'n')), "text");
  EXPECT_THROW(require_writable(folder_ / std::string(256, 'n')), Error);
}

TEST_F(FileTest, files_that_never_end_are_refused) { EXPECT_THROW(read_file("/dev/zero"), Error); }

TEST_F(FileTest, writes_to_what_is_not_a_regular_file_without_replacing_it) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, says_which_file_cannot_be_read_or_written) {
  for (const fs::path& bad : {folder_ / "no" / "such" / "folder", folder_}) {
    EXPECT_THROW(write_file(bad, "x"), Error) << bad;
    EXPECT_THROW(require_writable(bad), Error) << bad;
    EXPECT_THROW(read_file(bad), Error) << bad;
    EXPECT_THROW(FileSink{bad}, Error) << bad;
  }
  write_file(folder_ / "x", "old");
  EXPECT_THROW(write_file(folder_ / "x" / "y", "z"), Error);
  EXPECT_THROW(require_writable(folder_ / "x" / "y"), Error);
  EXPECT_THROW(require_writable(""), Error);
}

}  // namespace
}  // namespace joulegrid
