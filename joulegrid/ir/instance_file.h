#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulegrid/base/file.h"
#include "joulegrid/ir/run.h"

namespace joulegrid::ir {

/// How values stand in a file: text has one instance a line, its values separated by commas; the raw formats have instance
/// after instance, each value a signed little-endian integer of 8 or 64 bits.
enum class ValueFormat { text, i8, i64 };

std::optional<ValueFormat> find_value_format(std::string_view name);

/// Reads instances of `each` values from a file, some at a time. A value that the cells do not hold wraps: byte cells take
/// any 64-bit value that way. Throws Error(bad_input, where = "name:line" or "name") for a line with another number of
/// values, anything but integers of 64 bits, or a raw file that ends within an instance.
template <typename Value>
class InstanceReader {
 public:
  InstanceReader(ByteSource& source, std::string name, ValueFormat format, std::size_t each);
  ~InstanceReader();

  /// The next instances, `most` at most, one after the other; empty at the end.
  std::vector<Value> read(std::size_t most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes the outputs of instances, in the form in which inputs are read. A failed instance is an empty line in text and
/// zeros in the raw formats. Throws Error(bad_input) for a value that does not fit the format.
template <typename Value>
class InstanceWriter {
 public:
  InstanceWriter(ByteSink& sink, ValueFormat format, std::size_t each) : sink_(sink), format_(format), each_(each) {}

  /// The outputs of the next instances.
  void write(const RunResult<Value>& result);

 private:
  ByteSink& sink_;
  ValueFormat format_;
  std::size_t each_;
  std::uint64_t written_ = 0;  // instances
};

extern template class InstanceReader<std::int8_t>;
extern template class InstanceReader<std::int64_t>;
extern template class InstanceWriter<std::int8_t>;
extern template class InstanceWriter<std::int64_t>;

}  // namespace joulegrid::ir
