#include "joulegrid/workload/mnist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"

namespace joulegrid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (unsigned shift = 32; shift > 0; shift -= 8) text += static_cast<char>(value >> (shift - 8) & 0xFFU);
  return text;
}

std::string images_text(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  std::string text = big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns);
  for (std::uint32_t i = 0; i < count * rows * columns; ++i) text += static_cast<char>(i * 37 % 256);
  return text;
}

std::string labels_text(std::uint32_t count) {
  std::string text = big_endian(0x801) + big_endian(count);
  for (std::uint32_t i = 0; i < count; ++i) text += static_cast<char>(i % 10);
  return text;
}

std::string zipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

class MnistFiles : public testing::Test {
 protected:
  MnistFiles() : folder_(fs::path(testing::TempDir()) / ("mnist_test_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MnistFiles() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    write_file(path, text);
    return path;
  }

  void expect_refused(const std::string& text, const std::string& says, ErrorCode code = ErrorCode::bad_input) const {
    for (const std::string& as : {text, zipped(text)}) {
      const fs::path path = file("refused", as);
      try {
        read_idx_images(path, 2, 3);
        ADD_FAILURE() << "accepted, expected: " << says;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        EXPECT_THAT(error.what(), HasSubstr(says));
        EXPECT_THAT(error.what(), HasSubstr(path.string()));
      }
    }
  }

  fs::path folder_;
};

TEST_F(MnistFiles, are_read_plain_and_from_gzip) {
  const std::string text = images_text(5, 2, 3);
  for (const fs::path& path :
       {file("plain", text), file("zipped.gz", zipped(text)), file("zipped_without_ending", zipped(text))}) {
    const IdxImages images = read_idx_images(path);
    EXPECT_EQ(images.count, 5U);
    EXPECT_EQ(images.rows, 2U);
    EXPECT_EQ(images.columns, 3U);
    ASSERT_EQ(images.pixels.size(), 30U);
    EXPECT_EQ(images.pixels[29], 29 * 37 % 256);
  }
  EXPECT_THAT(read_idx_labels(file("labels", labels_text(3))), ElementsAre(0, 1, 2));
}

TEST_F(MnistFiles, are_read_whole_where_they_are_larger_than_any_buffer) {
  const std::string text = images_text(3000, 28, 28);
  for (const fs::path& path : {file("plain", text), file("zipped", zipped(text))}) {
    const IdxImages images = read_idx_images(path, 28, 28);
    EXPECT_TRUE(std::equal(images.pixels.begin(), images.pixels.end(), text.begin() + 16,
                           [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
  }
}

TEST_F(MnistFiles, that_are_wrong_are_refused_by_name) {
  const std::string good = images_text(5, 2, 3);
  expect_refused("", "ends within its header");
  expect_refused(good.substr(0, 15), "ends within its header");
  expect_refused(good.substr(0, 45), "promises 30 bytes, 29 are there");
  expect_refused(good + "x", "goes on after the 30 bytes");
  expect_refused(labels_text(9), "begins with 0x00000801 instead of 0x00000803");
  expect_refused("{\"not\": \"an image\"}", "no IDX file of images");
  expect_refused(images_text(5, 3, 2), "3 × 2 pixels instead of 2 × 3");
  expect_refused(images_text(0, 2, 3), "no images");
  expect_refused(images_text(1, 0, 3), "make no sense");
  // Sizes whose product is enormous are neither trusted nor allocated.
  expect_refused(big_endian(0x803) + big_endian(0xFFFF'FFFF) + big_endian(2) + big_endian(3), "0 are there");
  expect_refused(big_endian(0x803) + big_endian(1) + big_endian(0xFFFF'FFFF) + big_endian(0xFFFF'FFFF), "make no sense");
  EXPECT_THROW(read_idx_images(folder_ / "missing"), Error);
  EXPECT_THROW(read_idx_images(folder_), Error);
}

TEST_F(MnistFiles, that_are_damaged_gzip_are_refused) {
  const std::string good = zipped(images_text(500, 2, 3));
  const auto says = [&](const std::string& text, const std::string& what) {
    try {
      read_idx_images(file("damaged.gz", text));
      ADD_FAILURE() << "accepted, expected: " << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  };
  for (const std::size_t length : {std::size_t{2}, std::size_t{12}, good.size() / 2, good.size() - 1}) {
    says(good.substr(0, length), "compressed data end early");
  }
  says(good + "x", "follows after the compressed data");
  says(good + good, "follows after the compressed data");
  std::string wrong = good;
  wrong[good.size() - 6] = static_cast<char>(wrong[good.size() - 6] ^ 1);  // of the check sum
  says(wrong, "damaged");
}

TEST_F(MnistFiles, of_labels_hold_digits) {
  std::string text = labels_text(3);
  text.back() = 10;
  try {
    read_idx_labels(file("labels", text));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("label 2 is 10"));
  }
}

TEST_F(MnistFiles, are_found_in_the_folder_or_below_it) {
  const std::string names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                               "t10k-labels-idx1-ubyte"};
  EXPECT_THROW(read_mnist(folder_, MnistPart::train), Error);
  file("MNIST/raw/" + names[0], images_text(4, 28, 28));
  file("MNIST/raw/" + names[1] + ".gz", zipped(labels_text(4)));
  file("MNIST/raw/" + names[2] + ".gz", zipped(images_text(2, 28, 28)));
  file("MNIST/raw/t10k-labels.idx1-ubyte", labels_text(2));
  EXPECT_EQ(find_mnist(folder_), folder_ / "MNIST" / "raw");
  EXPECT_EQ(find_mnist(folder_ / "MNIST" / "raw"), folder_ / "MNIST" / "raw");
  const fs::path found = find_mnist(folder_);
  EXPECT_EQ(read_mnist(found, MnistPart::train).images.count, 4U);
  EXPECT_THAT(read_mnist(found, MnistPart::train).labels, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(read_mnist(found, MnistPart::test).images.count, 2U);
  file("MNIST/raw/" + names[1] + ".gz", zipped(labels_text(5)));
  EXPECT_THROW(read_mnist(found, MnistPart::train), Error);
  EXPECT_THROW(find_mnist(folder_ / "nowhere"), Error);
}

TEST_F(MnistFiles, of_the_usual_folders_are_found_and_missing_ones_say_how_to_get_them) {
  const auto set = [](const char* name, const fs::path& value) { ::setenv(name, value.c_str(), 1); };
  std::vector<std::pair<const char*, std::optional<std::string>>> old;
  for (const char* name : {"HOME", "JOULEGRID_MNIST", "KERAS_HOME"}) {
    const char* const value = std::getenv(name);
    old.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
  }
  const fs::path old_folder = fs::current_path();
  fs::current_path(folder_);
  set("HOME", folder_ / "home");
  ::unsetenv("JOULEGRID_MNIST");
  ::unsetenv("KERAS_HOME");
  try {
    find_mnist();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("scripts/fetch_mnist.sh"));
    EXPECT_THAT(error.what(), HasSubstr("--input synthetic"));
  }
  const std::string name = "train-images-idx3-ubyte";
  file("home/.keras/datasets/mnist/" + name + ".gz", "");
  EXPECT_EQ(find_mnist(), folder_ / "home/.keras/datasets/mnist");
  file("home/data/MNIST/raw/" + name, "");
  EXPECT_EQ(find_mnist(), folder_ / "home/data/MNIST/raw");
  file("data/MNIST/raw/" + name, "");
  EXPECT_TRUE(fs::equivalent(find_mnist(), folder_ / "data/MNIST/raw"));
  file("elsewhere/" + name, "");
  set("JOULEGRID_MNIST", folder_ / "elsewhere");
  EXPECT_EQ(find_mnist(), folder_ / "elsewhere");
  for (const auto& [variable, value] : old) {
    if (value) {
      set(variable, *value);
    } else {
      ::unsetenv(variable);
    }
  }
  fs::current_path(old_folder);
}

TEST(Mnist, the_real_set_has_its_known_sizes_and_pixels) {
  fs::path folder;
  try {
    folder = find_mnist();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const MnistSet train = read_mnist(folder, MnistPart::train);
  const MnistSet test = read_mnist(folder, MnistPart::test);
  EXPECT_EQ(train.images.count, 60'000U);
  EXPECT_EQ(test.images.count, 10'000U);
  EXPECT_EQ(train.labels[0], 5);
  EXPECT_EQ(test.labels[0], 7);
  // The published mean of the training pixels, 0.1307 of 255.
  const auto& pixels = train.images.pixels;
  const double sum = std::accumulate(pixels.begin(), pixels.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(pixels.size()) / 255, 0.1307, 0.00005);
  EXPECT_EQ(mnist_input(0), -128);
  EXPECT_EQ(mnist_input(255), 127);
}

}  // namespace
}  // namespace joulegrid
