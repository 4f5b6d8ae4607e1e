// Any bytes are a program or an error: reading never crashes, and what is read is priced, printed and read again alike.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joulegrid/base/error.h"
#include "joulegrid/ir/program.h"

namespace {

using namespace joulegrid;
using namespace joulegrid::ir;

/// Gives its text in pieces of `most` bytes.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view text, std::size_t most) : whole_(text), most_(most) {}
  std::size_t read(char* into, std::size_t most) override { return whole_.read(into, most < most_ ? most : most_); }

 private:
  MemorySource whole_;
  std::size_t most_;
};

/// What reading leads to: the error's text, or none.
std::string read(std::string_view text, std::size_t piece, ProgramSink& sink) {
  Pieces source(text, piece);
  try {
    read_program(source, "fuzz", sink);
  } catch (const Error& error) {
    check(error.code() == ErrorCode::bad_input, "the only error is bad input");
    const std::string message = error.what();
    check(message.starts_with("fuzz:"), "every error names its line");
    return message;
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Pricer pricer;
  const std::string error = read(text, text.size() + 1, pricer);
  Program program;
  check(read(text, size % 7 + 1, program) == error, "any division into pieces reads the same");
  if (!error.empty()) return 0;
  check(price(program) == pricer.price(), "a program costs what the stream of it costs");
  const std::string printed = print(program);
  const Program again = parse(printed, "printed");
  check(again == program, "printing and reading gives the same program");
  check(print(again) == printed, "reading and printing gives the same text");
  return 0;
}
