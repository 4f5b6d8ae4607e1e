#include "joulegrid/network/epoch.h"

#include <gtest/gtest.h>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

TEST(Epoch, splits_examples_into_full_calls_and_one_remainder) {
  EXPECT_EQ(Epoch({4, 2}, 60000, 64).call_groups(), (std::vector<CallGroup>{{64, 937}, {32, 1}}));
  EXPECT_EQ(Epoch({4, 2}, 60000, 16).call_groups(), (std::vector<CallGroup>{{16, 3750}}));
  EXPECT_EQ(Epoch({4, 2}, 5, 5).call_groups(), (std::vector<CallGroup>{{5, 1}}));
  EXPECT_EQ(Epoch({4, 2}, 60000, 64).calls(), 938U);
}

TEST(Epoch, counts_multiply_accumulates) {
  const Epoch epoch({784, 2500, 2000, 1500, 1000, 500, 10}, 60000, 64);
  EXPECT_EQ(epoch.macs_per_example(), Wide{11965000});
  EXPECT_EQ(epoch.macs(), Wide{717900000000});
}

TEST(Epoch, refuses_what_is_no_epoch) {
  EXPECT_THROW(Epoch({4}, 5, 1), Error);
  EXPECT_THROW(Epoch({}, 5, 1), Error);
  EXPECT_THROW(Epoch({4, 0}, 5, 1), Error);
  EXPECT_THROW(Epoch({4, 2}, 0, 0), Error);
  EXPECT_THROW(Epoch({4, 2}, 5, 0), Error);
  EXPECT_THROW(Epoch({4, 2}, 5, 6), Error);
  EXPECT_THROW(Epoch({4, max_size + 1}, 5, 1), Error);
}

}  // namespace
}  // namespace joulegrid
