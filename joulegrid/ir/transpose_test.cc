#include "joulegrid/ir/transpose.h"

#include <gtest/gtest.h>

#include <vector>

namespace joulegrid::ir {
namespace {

template <typename Value>
void expect_transposed(std::size_t rows, std::size_t columns) {
  std::vector<Value> from(rows * columns);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<Value>(i * 7 + i / 251);
  std::vector<Value> to(rows * columns);
  transpose<Value>([&](std::size_t r) { return from.data() + r * columns; }, rows,
                   [&](std::size_t c) { return to.data() + c * rows; }, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) ASSERT_EQ(to[c * rows + r], from[r * columns + c]) << r << " " << c;
  }
}

TEST(Transpose, exchanges_rows_and_columns_of_any_number) {
  for (std::size_t rows = 0; rows < 35; ++rows) {
    for (std::size_t columns = 0; columns < 35; ++columns) {
      expect_transposed<std::int8_t>(rows, columns);
      expect_transposed<std::int64_t>(rows, columns);
    }
  }
}

}  // namespace
}  // namespace joulegrid::ir
