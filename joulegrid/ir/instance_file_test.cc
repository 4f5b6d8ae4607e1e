#include "joulegrid/ir/instance_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "joulegrid/base/error.h"

namespace joulegrid::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Value>
std::vector<Value> read_all(const std::string& bytes, ValueFormat format, std::size_t each, std::size_t most = 2) {
  MemorySource source(bytes);
  InstanceReader<Value> reader(source, "x", format, each);
  std::vector<Value> all;
  for (;;) {
    const std::vector<Value> some = reader.read(most);
    if (some.empty()) return all;
    EXPECT_EQ(some.size() % each, 0U);
    EXPECT_LE(some.size(), most * each);
    all.insert(all.end(), some.begin(), some.end());
  }
}

std::string error_of(const std::string& bytes, ValueFormat format, std::size_t each) {
  try {
    read_all<std::int64_t>(bytes, format, each);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(InstanceFile, text_has_one_instance_a_line) {
  const std::vector<std::int64_t> expected = {1, -2, 3, 4, 9223372036854775807, std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(read_all<std::int64_t>("1,-2\n3,4\n9223372036854775807,-9223372036854775808\n", ValueFormat::text, 2), expected);
  EXPECT_EQ(read_all<std::int64_t>("\n 1 , -2\r\n\r\n\n3,\t4 \n9223372036854775807,-9223372036854775808", ValueFormat::text, 2),
            expected);
  EXPECT_EQ(read_all<std::int64_t>("", ValueFormat::text, 2), std::vector<std::int64_t>());
  EXPECT_EQ(read_all<std::int8_t>("127,128\n255,256\n-129,1000000", ValueFormat::text, 2),
            (std::vector<std::int8_t>{127, -128, -1, 0, 127, 64}));
}

TEST(InstanceFile, raw_values_are_little_endian) {
  EXPECT_EQ(read_all<std::int64_t>(std::string("\x01\xFF\x80\x7F", 4), ValueFormat::i8, 2),
            (std::vector<std::int64_t>{1, -1, -128, 127}));
  EXPECT_EQ(read_all<std::int64_t>(std::string("\x02\x01\0\0\0\0\0\x80", 8), ValueFormat::i64, 1),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min() + 258}));
  EXPECT_EQ(read_all<std::int8_t>(std::string("\x02\x01\0\0\0\0\0\x80", 8), ValueFormat::i64, 1),
            (std::vector<std::int8_t>{2}));
}

TEST(InstanceFile, names_the_line_or_the_instance_of_a_mistake) {
  EXPECT_THAT(error_of("1,2\n\n3\n", ValueFormat::text, 2),
              StartsWith("x:3: expected 2 values, one for each input of the program, found 1"));
  EXPECT_THAT(error_of("1,2\n3,4,5\n", ValueFormat::text, 2),
              StartsWith("x:2: expected 2 values, one for each input of the program, found more"));
  EXPECT_THAT(error_of("1,x\n", ValueFormat::text, 2), StartsWith("x:1: expected an integer, found 'x'"));
  EXPECT_THAT(error_of("1,2;3,4\n", ValueFormat::text, 2), StartsWith("x:1: expected a comma or the end of the line"));
  EXPECT_THAT(error_of("1,9223372036854775808\n", ValueFormat::text, 2), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(error_of("1,1.5\n", ValueFormat::text, 2), StartsWith("x:1: expected a comma or the end of the line, found '.'"));
  EXPECT_THAT(error_of("abcdefg", ValueFormat::i8, 2),
              StartsWith("x: the file ends within instance 3; each has 2 values of 1 bytes"));
  EXPECT_THAT(error_of("abcdefg", ValueFormat::i64, 1), StartsWith("x: the file ends within instance 0"));
}

TEST(InstanceFile, outputs_have_the_form_of_inputs) {
  const std::uint64_t seed = 41;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  RunResult<std::int64_t> result{100, {}, {}};
  for (int i = 0; i < 300; ++i) result.outputs.push_back(static_cast<std::int64_t>(random()) >> (random() % 64));
  for (const ValueFormat format : {ValueFormat::text, ValueFormat::i64}) {
    MemorySink sink;
    InstanceWriter<std::int64_t>(sink, format, 3).write(result);
    EXPECT_EQ(read_all<std::int64_t>(sink.text, format, 3, 7), result.outputs);
  }
}

TEST(InstanceFile, a_failed_instance_keeps_its_place) {
  const RunResult<std::int64_t> result{3, {1, 2, 0, 0, -3, 4}, {{1, 0, Fault::zero_divisor}}};
  MemorySink text;
  InstanceWriter<std::int64_t>(text, ValueFormat::text, 2).write(result);
  EXPECT_EQ(text.text, "1,2\n\n-3,4\n");
  MemorySink bytes;
  InstanceWriter<std::int64_t>(bytes, ValueFormat::i8, 2).write(result);
  EXPECT_EQ(bytes.text, std::string("\x01\x02\0\0\xFD\x04", 6));
}

TEST(InstanceFile, refuses_to_write_a_value_that_does_not_fit) {
  MemorySink bytes;
  InstanceWriter<std::int64_t> writer(bytes, ValueFormat::i8, 1);
  writer.write({1, {-128}, {}});
  try {
    writer.write({2, {127, 128}, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the output 128 of instance 2 does not fit 8 bits"));
  }
}

}  // namespace
}  // namespace joulegrid::ir
