#include "joulegrid/workload/mnist.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"

namespace joulegrid {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t images_magic = 0x0000'0803;
constexpr std::uint32_t labels_magic = 0x0000'0801;
constexpr std::uint32_t mnist_side = 28;

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw Error(ErrorCode::bad_input, message, path.string());
}

/// The bytes of a file, out of gzip where it begins like gzip.
class Bytes {
 public:
  explicit Bytes(const fs::path& path) : path_(path), file_(path) {
    fill();
    constexpr unsigned char first = 0x1F;
    constexpr unsigned char second = 0x8B;
    zipped_ = held_ >= 2 && static_cast<unsigned char>(buffer_[0]) == first && static_cast<unsigned char>(buffer_[1]) == second;
    if (!zipped_) return;
    constexpr int only_gzip = 16 + MAX_WBITS;
    check(inflateInit2(&stream_, only_gzip) == Z_OK, "zlib starts");
    ends_ = false;
  }
  ~Bytes() {
    if (zipped_) inflateEnd(&stream_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// Up to `most` bytes, fewer only at the end.
  std::size_t read(std::uint8_t* into, std::size_t most) {
    std::size_t done = 0;
    while (done < most) {
      const std::size_t some = zipped_ ? inflate_some(into + done, most - done) : copy_some(into + done, most - done);
      if (some == 0) break;
      done += some;
    }
    return done;
  }

 private:
  void fill() {
    at_ = 0;
    held_ = file_.read(buffer_.data(), buffer_.size());
  }

  std::size_t copy_some(std::uint8_t* into, std::size_t most) {
    if (at_ == held_) fill();
    const std::size_t count = std::min(most, held_ - at_);
    std::copy_n(buffer_.data() + at_, count, into);
    at_ += count;
    return count;
  }

  std::size_t inflate_some(std::uint8_t* into, std::size_t most) {
    const auto room = static_cast<uInt>(std::min<std::size_t>(most, 1U << 20U));
    stream_.next_out = into;
    stream_.avail_out = room;
    while (!ends_ && stream_.avail_out == room) {
      if (at_ == held_) fill();
      if (held_ == 0) fail(path_, "the compressed data end early");
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + at_);
      stream_.avail_in = static_cast<uInt>(held_ - at_);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      at_ = held_ - stream_.avail_in;
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        fail(path_,
             std::string("the compressed data are damaged: ") + (stream_.msg != nullptr ? stream_.msg : "zlib says no more"));
      }
      ends_ = status == Z_STREAM_END;
    }
    const std::size_t count = room - stream_.avail_out;
    if (count == 0) {
      if (at_ == held_) fill();
      if (held_ > 0) fail(path_, "something follows after the compressed data");
    }
    return count;
  }

  fs::path path_;
  FileSource file_;
  std::array<char, 1 << 16> buffer_{};
  std::size_t at_ = 0;
  std::size_t held_ = 0;
  bool zipped_ = false;
  bool ends_ = true;
  z_stream stream_{};
};

/// Reads the file's numbers: the magic one, then `count` sizes.
std::vector<std::uint32_t> read_header(const fs::path& path, Bytes& bytes, std::uint32_t magic, std::size_t count) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i <= count; ++i) {
    std::array<std::uint8_t, 4> of{};
    if (bytes.read(of.data(), of.size()) != of.size()) fail(path, "the file ends within its header");
    numbers.push_back(static_cast<std::uint32_t>(of[0]) << 24U | static_cast<std::uint32_t>(of[1]) << 16U |
                      static_cast<std::uint32_t>(of[2]) << 8U | of[3]);
    if (i == 0 && numbers[0] != magic) {
      char text[96];
      std::snprintf(text, sizeof text, "this is no IDX file of %s: it begins with 0x%08X instead of 0x%08X",
                    magic == images_magic ? "images" : "labels", numbers[0], magic);
      fail(path, text);
    }
  }
  numbers.erase(numbers.begin());
  return numbers;
}

/// The rest of the file, which has to be `size` bytes; memory grows only with what is there.
std::vector<std::uint8_t> read_body(const fs::path& path, Bytes& bytes, std::uint64_t size) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 24U;
  std::vector<std::uint8_t> body;
  while (body.size() < size) {
    const std::uint64_t begin = body.size();
    const std::uint64_t wanted = std::min(piece, size - begin);
    body.resize(begin + wanted);
    if (const std::size_t got = bytes.read(body.data() + begin, wanted); got != wanted) {
      fail(path, "the file ends early: its header promises " + std::to_string(size) + " bytes, " + std::to_string(begin + got) +
                     " are there");
    }
  }
  std::uint8_t more = 0;
  if (bytes.read(&more, 1) != 0) {
    fail(path, "the file goes on after the " + std::to_string(size) + " bytes that its header promises");
  }
  return body;
}

std::optional<fs::path> file_in(const fs::path& folder, const std::string& name) {
  std::string dotted = name;
  if (const std::size_t at = dotted.find("-idx"); at != std::string::npos) dotted[at] = '.';
  for (const std::string& stem : {name, dotted}) {
    for (const char* ending : {"", ".gz"}) {
      std::error_code ignored;
      fs::path path = folder / (stem + ending);
      if (fs::is_regular_file(path, ignored)) return path;
    }
  }
  return std::nullopt;
}

fs::path need_file(const fs::path& folder, const std::string& name) {
  if (auto path = file_in(folder, name)) return *path;
  throw Error(ErrorCode::unavailable, "there is no " + name + " in this folder, neither plain nor with .gz", folder.string());
}

bool has_images(const fs::path& folder) { return file_in(folder, "train-images-idx3-ubyte").has_value(); }

constexpr const char* how_to_get =
    "`scripts/fetch_mnist.sh DIR` fetches the MNIST files and --mnist DIR reads them; --input synthetic does without";

}  // namespace

IdxImages read_idx_images(const fs::path& path, std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint64_t most_pixels = std::uint64_t{1} << 20U;
  Bytes bytes(path);
  const std::vector<std::uint32_t> sizes = read_header(path, bytes, images_magic, 3);
  IdxImages images{sizes[0], sizes[1], sizes[2], {}};
  const std::string size = std::to_string(images.rows) + " × " + std::to_string(images.columns);
  if (images.count == 0) fail(path, "the file has no images");
  const std::uint64_t pixels = std::uint64_t{images.rows} * images.columns;
  if (pixels == 0 || pixels > most_pixels) fail(path, "images of " + size + " pixels make no sense");
  if (rows != 0 && (images.rows != rows || images.columns != columns)) {
    fail(path, "the images have " + size + " pixels instead of " + std::to_string(rows) + " × " + std::to_string(columns));
  }
  images.pixels = read_body(path, bytes, images.count * pixels);
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const fs::path& path) {
  constexpr std::uint8_t most = 9;
  Bytes bytes(path);
  std::vector<std::uint8_t> labels = read_body(path, bytes, read_header(path, bytes, labels_magic, 1)[0]);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > most) {
      fail(path, "label " + std::to_string(i) + " is " + std::to_string(labels[i]) + ", labels are from 0 to 9");
    }
  }
  return labels;
}

MnistSet read_mnist(const fs::path& folder, MnistPart part) {
  const std::string name = part == MnistPart::train ? "train" : "t10k";
  const fs::path images = need_file(folder, name + "-images-idx3-ubyte");
  const fs::path labels = need_file(folder, name + "-labels-idx1-ubyte");
  MnistSet set{read_idx_images(images, mnist_side, mnist_side), read_idx_labels(labels)};
  if (set.labels.size() != set.images.count) {
    fail(labels,
         "there are " + std::to_string(set.labels.size()) + " labels for " + std::to_string(set.images.count) + " images");
  }
  return set;
}

std::vector<fs::path> mnist_folders() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  std::vector<fs::path> folders;
  if (const fs::path named = variable("JOULEGRID_MNIST"); !named.empty()) folders.push_back(named);
  const fs::path home = variable("HOME");
  for (const fs::path& root : {fs::path("."), home}) {
    if (root.empty()) continue;
    folders.push_back(root / "data" / "MNIST" / "raw");
    folders.push_back(root / "MNIST" / "raw");
  }
  fs::path keras = variable("KERAS_HOME");
  if (keras.empty() && !home.empty()) keras = home / ".keras";
  if (!keras.empty()) {
    folders.push_back(keras / "datasets" / "mnist");
    folders.push_back(keras / "datasets");
  }
  return folders;
}

fs::path find_mnist(const fs::path& folder) {
  if (!folder.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) throw Error(ErrorCode::unavailable, "there is no such folder", folder.string());
    if (fs::path below = folder / "MNIST" / "raw"; !has_images(folder) && has_images(below)) return below;
    return folder;
  }
  const std::vector<fs::path> folders = mnist_folders();
  for (const fs::path& one : folders) {
    if (has_images(one)) return one;
  }
  std::string tried;
  for (const fs::path& one : folders) tried += (tried.empty() ? "" : ", ") + one.string();
  throw Error(ErrorCode::unavailable,
              std::string("the MNIST files are in none of the usual folders (") + tried + "); " + how_to_get);
}

}  // namespace joulegrid
