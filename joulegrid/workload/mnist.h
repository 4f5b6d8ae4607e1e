#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace joulegrid {

/// Images of an IDX file (magic number 0x00000803), each rows × columns bytes from 0 to 255.
struct IdxImages {
  std::uint32_t count = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint8_t> pixels;
};

/// Reads one, plain or gzip, whatever its name. Throws Error(bad_input, where = the path) where it cannot be read, has another
/// magic number, ends early, goes on after the last image, or has images of another size than rows × columns where these
/// are not 0.
IdxImages read_idx_images(const std::filesystem::path& path, std::uint32_t rows = 0, std::uint32_t columns = 0);

/// The same of labels (magic number 0x00000801), which are from 0 to 9.
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& path);

/// Images of 28 × 28 bytes, and what they show.
struct MnistSet {
  IdxImages images;
  std::vector<std::uint8_t> labels;
};

enum class MnistPart {
  train,  ///< 60,000 images in the real set
  test,   ///< 10,000
};

/// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte, or those of t10k, each plain or with .gz, also where a dot
/// stands before "idx". Throws Error(unavailable) where one is missing, and Error(bad_input) naming the file as above, or where
/// there are not as many labels as images.
MnistSet read_mnist(const std::filesystem::path& folder, MnistPart part);

/// Where the files are: `folder` itself, or below it as torchvision has them, folder/MNIST/raw. Where `folder` is empty, the
/// first of mnist_folders() that has the training images. Throws Error(unavailable) saying how to get them.
std::filesystem::path find_mnist(const std::filesystem::path& folder = {});

/// Folders that are looked into: JOULEGRID_MNIST; below the current folder and the home folder torchvision's data/MNIST/raw and
/// MNIST/raw; Keras's datasets/mnist and datasets below KERAS_HOME or the home folder's .keras.
std::vector<std::filesystem::path> mnist_folders();

/// A pixel as the network's input: 0 to 255 becomes -128 to 127.
constexpr std::int8_t mnist_input(std::uint8_t pixel) { return static_cast<std::int8_t>(int{pixel} - 128); }

}  // namespace joulegrid
