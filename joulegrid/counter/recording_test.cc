#include "joulegrid/counter/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TimeSource::Instant at(std::chrono::nanoseconds since_boot) { return TimeSource::Instant(since_boot); }

CounterDescription full_description() {
  CounterDescription description;
  description.kind = CounterKind::nvml;
  description.name = "nvml:GPU-1234";
  description.scope = CounterScope::gpu_board;
  description.includes = {"board", "memory \"too\""};
  description.unit = "15.3 µJ";
  description.device = {"GPU-1234", PciAddress{0, 0x65, 0, 1}, "a\nb\\\"c\x01 漢"};
  description.driver = "550.54";
  description.longest_gap = 60s;
  description.notes = {"", "two"};
  return description;
}

TelemetrySample full_sample(TimeSource::Instant when) {
  TelemetrySample sample = TelemetrySample::missing(when, {FaultKind::not_supported, "not told"});
  sample.power_mw = std::uint64_t{250'500};
  sample.power_is_average = true;
  sample.power_limit_mw = std::uint64_t{400'000};
  sample.temperature_c = std::int64_t{-5};
  sample.graphics_clock_mhz = std::uint64_t{1410};
  sample.sm_clock_mhz = std::uint64_t{1409};
  sample.memory_clock_mhz = std::uint64_t{1593};
  sample.clock_events = ClockEvents{0x8000000000000064U};
  sample.processes = std::vector<ComputeProcess>{{1, 2}, {4'294'967'295U, ~std::uint64_t{0}}};
  sample.counter = Reading{Microjoules(77), when, 3us};
  return sample;
}

std::vector<Measured<Reading>> some_readings() {
  // An energy past 64 bits is still exact.
  return {Reading{Microjoules(0), at(5ns), 1us}, Fault{FaultKind::no_permission, "for root \"only\"\n"},
          Reading{Microjoules((Wide{1} << 100U) + 1), at(7s), 0ns}};
}

std::string recorded(bool with_end = true) {
  MemorySink sink;
  Recorder recorder(sink, full_description());
  const std::vector<Measured<Reading>> readings = some_readings();
  recorder.reading(readings[0]);
  recorder.telemetry(full_sample(at(6s)));
  recorder.other(R"({"mine": [1, 2.5, "µ"]})");
  recorder.reading(readings[1]);
  recorder.telemetry(TelemetrySample::missing(at(8s), {FaultKind::device_lost, "gone"}));
  recorder.reading(readings[2]);
  if (with_end) recorder.end();
  return sink.text;
}

TEST(Recording, holds_what_was_recorded) {
  const Recording recording = read_recording(recorded(), "file");
  const CounterDescription expected = full_description();
  EXPECT_EQ(recording.counter.kind, expected.kind);
  EXPECT_EQ(recording.counter.name, expected.name);
  EXPECT_EQ(recording.counter.scope, expected.scope);
  EXPECT_EQ(recording.counter.includes, expected.includes);
  EXPECT_EQ(recording.counter.unit, expected.unit);
  EXPECT_EQ(recording.counter.device.uuid, expected.device.uuid);
  EXPECT_EQ(recording.counter.device.pci, expected.device.pci);
  EXPECT_EQ(recording.counter.device.name, expected.device.name);
  EXPECT_EQ(recording.counter.driver, expected.driver);
  EXPECT_EQ(recording.counter.longest_gap, expected.longest_gap);
  EXPECT_EQ(recording.counter.notes, expected.notes);
  EXPECT_EQ(recording.readings, some_readings());
  ASSERT_EQ(recording.samples.size(), 2U);
  EXPECT_EQ(recording.samples[0], full_sample(at(6s)));
  EXPECT_EQ(recording.samples[1], TelemetrySample::missing(at(8s), {FaultKind::device_lost, "gone"}));
  ASSERT_EQ(recording.others.size(), 1U);
  EXPECT_EQ(recording.others[0].text, R"({"mine":[1,2.5,"µ"]})");
  EXPECT_EQ(recording.others[0].where, "file:4");
  EXPECT_EQ(recording.others[0].line, 4U);
  EXPECT_THAT(recording.reading_lines, ElementsAre(2, 5, 7));
  EXPECT_THAT(recording.sample_lines, ElementsAre(3, 6));
  EXPECT_TRUE(recording.complete);
}

TEST(Recording, of_a_description_with_nothing_in_it_is_one_too) {
  MemorySink sink;
  Recorder recorder(sink, CounterDescription{});
  recorder.end();
  const Recording recording = read_recording(sink.text, "file");
  EXPECT_EQ(recording.counter.kind, CounterKind::none);
  EXPECT_FALSE(recording.counter.device.pci);
  EXPECT_FALSE(recording.counter.longest_gap);
  EXPECT_TRUE(recording.readings.empty());
  EXPECT_TRUE(recording.complete);
}

TEST(Recording, of_texts_that_are_not_utf8_has_replacement_characters) {
  MemorySink sink;
  CounterDescription description;
  description.device.name = "caf\xe9";
  Recorder recorder(sink, description);
  recorder.reading(Fault{FaultKind::source_error, "\xff"});
  const Recording recording = read_recording(sink.text, "file");
  EXPECT_EQ(recording.counter.device.name, "caf\xef\xbf\xbd");
  EXPECT_EQ(recording.readings.at(0).fault().reason, "\xef\xbf\xbd");
}

TEST(Recording, every_line_is_one_json_object_as_soon_as_it_is_written) {
  MemorySink sink;
  Recorder recorder(sink, full_description());
  EXPECT_EQ(std::count(sink.text.begin(), sink.text.end(), '\n'), 1);
  recorder.reading(some_readings()[0]);
  EXPECT_EQ(std::count(sink.text.begin(), sink.text.end(), '\n'), 2);
  EXPECT_EQ(sink.text.back(), '\n');
}

TEST(Recording, from_several_threads_has_whole_lines) {
  MemorySink sink;
  Recorder recorder(sink, full_description());
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) recorder.telemetry(full_sample(at(std::chrono::seconds(i))));
  });
  for (int i = 0; i < 200; ++i) recorder.reading(Reading{Microjoules(1), at(std::chrono::seconds(i)), {}});
  other.join();
  recorder.end();
  const Recording recording = read_recording(sink.text, "file");
  EXPECT_EQ(recording.readings.size(), 200U);
  EXPECT_EQ(recording.samples.size(), 200U);
  EXPECT_TRUE(recording.complete);
}

TEST(Recording, is_read_from_a_file) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "recording_test.jsonl";
  std::ofstream(path) << recorded();
  EXPECT_EQ(read_recording_file(path).readings, some_readings());
  EXPECT_THROW(read_recording_file("/no/such/recording"), Error);
}

TEST(Recorder, refuses_other_lines_with_keys_of_its_own) {
  MemorySink sink;
  Recorder recorder(sink, full_description());
  for (const char* line : {R"({"reading":1})", R"({"telemetry":1})", R"({"end":1})", "[]", "7"}) {
    EXPECT_THROW(recorder.other(line), std::logic_error) << line;
  }
}

TEST(Replayed, counter_gives_each_reading_and_sample_once_and_then_says_that_it_ended) {
  for (const bool complete : {true, false}) {
    const FaultKind kind = complete ? FaultKind::recording_ended : FaultKind::recording_truncated;
    const auto counter = replay(read_recording(recorded(complete), "file"));
    EXPECT_EQ(counter->describe().kind, CounterKind::replay);
    EXPECT_EQ(counter->describe().name, "nvml:GPU-1234");
    EXPECT_EQ(counter->describe().scope, CounterScope::gpu_board);
    for (const Measured<Reading>& reading : some_readings()) EXPECT_EQ(counter->read(), reading);
    EXPECT_EQ(counter->telemetry(), full_sample(at(6s)));
    EXPECT_EQ(counter->telemetry().power_mw.fault().kind, FaultKind::device_lost);
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(counter->read().fault().kind, kind);
      EXPECT_EQ(counter->telemetry().power_mw.fault().kind, kind);
      EXPECT_EQ(counter->telemetry().at, at(8s));  // no later than what it knows
    }
  }
}

TEST(Replayed, recording_recorded_again_is_the_same) {
  const Recording recording = read_recording(recorded(), "file");
  const auto counter = replay(recording);
  MemorySink sink;
  Recorder recorder(sink, recording.counter);
  recorder.reading(counter->read());
  recorder.telemetry(counter->telemetry());
  recorder.other(recording.others[0].text);
  recorder.reading(counter->read());
  recorder.telemetry(counter->telemetry());
  recorder.reading(counter->read());
  recorder.end();
  EXPECT_EQ(sink.text, recorded());
}

TEST(TruncatedRecording, keeps_its_whole_lines) {
  const std::string text = recorded();
  std::size_t lines = 0;
  for (std::size_t length = text.find('\n') + 1; length < text.size(); ++length) {
    lines = static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
    const Recording recording = read_recording(text.substr(0, length), "file");
    EXPECT_FALSE(recording.complete);
    EXPECT_EQ(1 + recording.readings.size() + recording.samples.size() + recording.others.size(), lines);
  }
  EXPECT_EQ(lines, 7U);
}

std::string refusal(const std::string& text) {
  try {
    read_recording(text, "file");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(NoRecording, is_refused_with_its_line) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("\n"), StartsWith("file:1: "));
  EXPECT_THAT(refusal("[]\n"), StartsWith("file:1: "));
  EXPECT_THAT(refusal("{}\n"), StartsWith("file:1: "));
  EXPECT_THAT(refusal("{\"recording\":\"something else\"}\n"), AllOf(StartsWith("file:1: "), HasSubstr("not the recording")));
  EXPECT_THAT(refusal(std::string("\x7f"
                                  "ELF\0\0",
                                  6)),
              StartsWith("file:1: "));
  EXPECT_THAT(refusal(recorded().substr(0, 40)), StartsWith("file:1: "));
  EXPECT_THAT(refusal(recorded() + "{}\n"), AllOf(StartsWith("file:9: "), HasSubstr("after its end")));
  EXPECT_THAT(refusal(recorded() + "{"), AllOf(StartsWith("file:9: "), HasSubstr("after its end")));
}

TEST(DamagedRecording, is_refused_with_its_line) {
  struct Damage {
    const char* line;
    const char* from;
    const char* to;
  };
  const Damage damages[] = {
      {"1", "\"schema_version\":1", "\"schema_version\":2"},
      {"1", "\"kind\":\"nvml\"", "\"kind\":\"magic\""},
      {"1", "\"scope\":\"GPU board\"", "\"scope\":\"everything\""},
      {"1", "\"pci\":\"0000:65:00.1\"", "\"pci\":\"here\""},
      {"1", "\"includes\":[", "\"includes\":[7,"},
      {"1", "\"notes\":[", "\"notes\":\"\",\"n\":["},
      {"1", "\"longest_gap_ns\":60000000000", "\"longest_gap_ns\":99999999999999999999"},
      {"2", "\"t_ns\":5", "\"t_ns\":\"5\""},
      {"2", "\"t_ns\":5", "\"t_ns\":5.0"},
      {"2", "\"t_ns\":5", "\"t_ns\":null"},
      {"2", "\"t_ns\":5", "\"t_ns\":9223372036854775807"},
      {"2", "\"t_ns\":5", "\"t_ns\":-9223372036854775808"},
      {"2", "\"t_ns\":5", "\"t_ns\":340282366920938463463374607431768211461"},
      {"2", "\"took_ns\":", "\"took\":"},
      {"2", "\"energy_uJ\":0", "\"energy_uJ\":-1"},
      {"2", "\"energy_uJ\":0", "\"energy_uJ\":1e3"},
      {"2", "\"energy_uJ\":0", "\"energy_uJ\":340282366920938463463374607431768211456"},  // 2^128
      {"3", "\"power_mW\":250500", "\"power_mW\":-1"},
      {"3", "\"power_mW\":250500", "\"power_mW\":18446744073709551616"},
      {"3", "\"power_mW\":250500", "\"power_mW\":{}"},
      {"3", "\"power_is_average\":true", "\"power_is_average\":1"},
      {"3", "\"processes\":[", "\"processes\":null,\"p\":["},
      {"3", "\"pid\":4294967295", "\"pid\":4294967296"},
      {"3", "\"counter\":{", "\"counter\":7,\"c\":{"},
      {"4", "{\"mine\"", "[{\"mine\""},
      {"5", "\"fault\":\"no_permission\"", "\"fault\":\"bad luck\""},
      {"5", "\"reason\":\"", "\"because\":\""},
      {"6", "\"telemetry\":{", "\"telemetry\":[{"},
      {"7", "\"t_ns\":7000000000", "\"t_ns\":4"},           // before line 2
      {"6", "\"t_ns\":8000000000", "\"t_ns\":5000000000"},  // before line 3
      {"8", "\"readings\":3", "\"readings\":2"},
      {"8", "\"telemetry\":2", "\"telemetry\":\"2\""},
      {"8", "\"end\":{", "\"end\":7,\"e\":{"},
  };
  for (const Damage& damage : damages) {
    std::string text = recorded();
    std::size_t begin = 0;
    for (int line = 1; line < std::stoi(damage.line); ++line) begin = text.find('\n', begin) + 1;
    const std::size_t found = text.find(damage.from, begin);
    ASSERT_LT(found, text.find('\n', begin)) << damage.line << damage.from;
    text.replace(found, std::string(damage.from).size(), damage.to);
    EXPECT_THAT(refusal(text), StartsWith(std::string("file:") + damage.line + ": ")) << damage.from << " -> " << damage.to;
  }
}

}  // namespace
}  // namespace joulegrid
