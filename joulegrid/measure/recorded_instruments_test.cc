#include "joulegrid/measure/recorded_instruments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/measure/measurement.h"
#include "joulegrid/measure/simulated_device.h"

namespace joulegrid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// A stage that tells something about every aggregate and fails the n-th, n from 1.
class TalkingStage final : public Stage {
 public:
  explicit TalkingStage(std::string name, std::uint64_t fails_at = 0) : name_(std::move(name)), fails_at_(fails_at) {}

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { repetitions_ = repetitions; }
  std::optional<Fault> synchronise() override {
    if (++aggregates_ == fails_at_) return Fault{FaultKind::work_failed, "it \"failed\"\nµ"};
    return std::nullopt;
  }
  std::string details() override {
    if (aggregates_ % 2 == 0) return {};
    return R"({"aggregate":)" + std::to_string(aggregates_) + R"(,"done":)" + std::to_string(repetitions_) +
           R"(,"share":0.1,"text":"\"\\\nµ"})";
  }

 private:
  std::string name_;
  std::uint64_t fails_at_;
  std::uint64_t aggregates_ = 0;
  std::uint64_t repetitions_ = 0;
};

using Stages = std::vector<std::unique_ptr<Stage>>;

Stages stages_named(const std::vector<std::string>& names) {
  Stages stages;
  for (const std::string& name : names) stages.push_back(std::make_unique<TalkingStage>(name));
  return stages;
}

/// Short windows of a quick counter, so that recordings stay small.
MeasurePlan short_plan() {
  MeasurePlan plan;
  plan.trials = 3;
  plan.trial_time = 300ms;
  plan.idle_time = 200ms;
  plan.settle_time = 50ms;
  plan.warm_up_time = 50ms;
  return plan;
}

SimulatedDeviceFacts quick_counter() {
  SimulatedDeviceFacts facts;
  facts.tick_s = 0.002;
  return facts;
}

struct Recorded {
  ProtocolRun run;
  std::string text;
};

Recorded recorded(const MeasurePlan& plan, const Stages& stages, Instruments& instruments) {
  MemorySink sink;
  Recorder recorder(sink, instruments.counter());
  RecordingInstruments recording(instruments, recorder);
  Recorded result{run_protocol(plan, stages, recording), {}};
  recorder.end();
  result.text = sink.text;
  return result;
}

/// With samples that have all, something and nothing, a process that comes, a reading that fails once and a trial that fails.
Recorded eventful(std::uint64_t seed, const std::string& first = "a") {
  SimulatedDevice device(quick_counter(), seed);
  std::uint64_t samples = 0;
  device.change_sample = [&](TelemetrySample& sample) {
    ++samples;
    if (samples % 3 == 0) sample.power_is_average = true;
    if (samples % 4 == 0) sample.processes = std::vector<ComputeProcess>{{100, 0}, {7, 1U << 30U}};
    if (samples % 5 == 0) sample.temperature_c = std::int64_t{-40};
    if (samples % 6 == 0) sample.clock_events = ClockEvents{0x24};
    if (samples % 7 == 0) sample = TelemetrySample::missing(sample.at, {FaultKind::source_error, "not \"now\"\x01"});
    if (samples % 8 == 0) sample.processes = std::vector<ComputeProcess>{};
  };
  std::uint64_t readings = 0;
  device.change_reading = [&](const Reading& reading) -> Measured<Reading> {
    if (++readings == 500) return Fault{FaultKind::no_permission, "tab\tand µ"};
    return reading;
  };
  Stages stages;
  stages.push_back(std::make_unique<TalkingStage>(first));
  stages.push_back(std::make_unique<TalkingStage>("b", 5));
  return recorded(short_plan(), stages, device);
}

ProtocolRun replayed(const std::string& text, const MeasurePlan& plan = short_plan(),
                     const std::vector<std::string>& names = {"a", "b"}) {
  ReplayInstruments instruments(read_recording(text, "file"));
  return run_protocol(plan, stages_named(names), instruments);
}

void expect_equal(const Trial& a, const Trial& b) {
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.repetitions, b.repetitions);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.work, b.work);
}

void expect_equal(const ProtocolRun& a, const ProtocolRun& b) {
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.counter.kind, b.counter.kind);
  EXPECT_EQ(a.counter.name, b.counter.name);
  EXPECT_EQ(a.counter.scope, b.counter.scope);
  EXPECT_EQ(a.counter.unit, b.counter.unit);
  EXPECT_EQ(a.counter.notes, b.counter.notes);
  ASSERT_EQ(a.tick.has_value(), b.tick.has_value());
  if (a.tick) {
    EXPECT_EQ(a.tick.value().intervals, b.tick.value().intervals);
    EXPECT_EQ(a.tick.value().resolution, b.tick.value().resolution);
    EXPECT_EQ(a.tick.value().smallest_change, b.tick.value().smallest_change);
    EXPECT_EQ(a.tick.value().longest_look, b.tick.value().longest_look);
  } else {
    EXPECT_EQ(a.tick.fault(), b.tick.fault());
  }
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.ended_early, b.ended_early);
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(a.stages[i].name, b.stages[i].name);
    EXPECT_EQ(a.stages[i].repetitions, b.stages[i].repetitions);
    EXPECT_EQ(a.stages[i].fault, b.stages[i].fault);
    EXPECT_EQ(a.stages[i].first_details, b.stages[i].first_details);
    ASSERT_EQ(a.stages[i].trials.size(), b.stages[i].trials.size());
    for (std::size_t j = 0; j < a.stages[i].trials.size(); ++j) expect_equal(a.stages[i].trials[j], b.stages[i].trials[j]);
  }
}

std::size_t finished_trials(const ProtocolRun& run) {
  std::size_t finished = 0;
  for (const StageTrials& stage : run.stages) finished += stage.trials.size();
  return finished;
}

TEST(Replay, gives_the_run_that_was_recorded) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Recorded live = eventful(seed);
    EXPECT_EQ(finished_trials(live.run), 6U);
    EXPECT_GT(live.run.samples.size(), 20U);
    expect_equal(replayed(live.text), live.run);
  }
}

// The cases above have what they should.
TEST(Replay, of_the_eventful_run_shows_faults_details_and_processes) {
  const ProtocolRun run = replayed(eventful(1).text);
  bool fault = false;
  bool failure = false;
  bool details = false;
  for (const StageTrials& stage : run.stages) {
    for (const Trial& trial : stage.trials) {
      for (const Measured<Reading>& edge : trial.edges) {
        fault = fault || (!edge && edge.fault() == Fault{FaultKind::no_permission, "tab\tand µ"});
      }
      failure = failure || trial.work.fault == Fault{FaultKind::work_failed, "it \"failed\"\nµ"};
      details = details || !trial.work.details.empty();
    }
  }
  EXPECT_TRUE(fault);
  EXPECT_TRUE(failure);
  EXPECT_TRUE(details);
}

TEST(Replay, recorded_again_gives_the_same_bytes) {
  const Recorded live = eventful(4);
  ReplayInstruments instruments(read_recording(live.text, "file"));
  EXPECT_EQ(recorded(short_plan(), stages_named({"a", "b"}), instruments).text, live.text);
}

TEST(Replay, gives_samples_after_the_trial_that_they_were_recorded_after) {
  SimulatedDevice device(quick_counter(), 1);
  std::vector<std::size_t> live;
  std::vector<std::size_t> again;
  ProtocolOptions options;
  options.after_trial = [&](const ProtocolRun& run) { live.push_back(run.samples.size()); };
  MemorySink sink;
  Recorder recorder(sink, device.counter());
  RecordingInstruments recording(device, recorder);
  run_protocol(short_plan(), stages_named({"a", "b"}), recording, options);
  recorder.end();
  options.after_trial = [&](const ProtocolRun& run) { again.push_back(run.samples.size()); };
  ReplayInstruments instruments(read_recording(sink.text, "file"));
  run_protocol(short_plan(), stages_named({"a", "b"}), instruments, options);
  EXPECT_EQ(again, live);
}

TEST(Replay, of_a_counter_that_fails_from_the_start_is_the_same_too) {
  for (const bool frozen : {true, false}) {
    SimulatedDevice device(quick_counter(), 1);
    device.change_reading = [&](const Reading& reading) -> Measured<Reading> {
      if (frozen) return Reading{Microjoules(5), reading.at, reading.took};
      return Fault{FaultKind::not_supported, "no such counter"};
    };
    const Recorded live = recorded(short_plan(), stages_named({"a", "b"}), device);
    EXPECT_EQ(live.run.tick.fault().kind, frozen ? FaultKind::frozen : FaultKind::not_supported);
    expect_equal(replayed(live.text), live.run);
  }
}

/// All trials that `part` has are those of `whole`, and it has as many as come before the end.
void expect_part_of(const ProtocolRun& part, const ProtocolRun& whole) {
  ASSERT_EQ(part.stages.size(), whole.stages.size());
  for (std::size_t i = 0; i < part.stages.size(); ++i) {
    ASSERT_LE(part.stages[i].trials.size(), whole.stages[i].trials.size());
    for (std::size_t j = 0; j < part.stages[i].trials.size(); ++j) {
      expect_equal(part.stages[i].trials[j], whole.stages[i].trials[j]);
    }
    EXPECT_FALSE(part.stages[i].fault);
  }
  ASSERT_LE(part.samples.size(), whole.samples.size());
  EXPECT_TRUE(std::equal(part.samples.begin(), part.samples.end(), whole.samples.begin()));
}

TEST(Truncated, wherever_it_is_the_finished_trials_are_those_of_the_whole) {
  const Recorded live = eventful(1);
  std::vector<std::size_t> ends;  // of every line, its newline included
  for (std::size_t at = live.text.find('\n'); at != std::string::npos; at = live.text.find('\n', at + 1))
    ends.push_back(at + 1);
  ASSERT_GT(ends.size(), 500U);
  std::size_t last = 0;
  std::size_t cuts = 0;
  for (std::size_t line = 1; line + 1 < ends.size(); line += 50) {
    const std::size_t next_length = ends[line] - ends[line - 1];
    for (const std::size_t more : {std::size_t{0}, next_length / 2}) {
      const ProtocolRun run = replayed(live.text.substr(0, ends[line - 1] + more));
      ASSERT_TRUE(run.ended_early) << line;
      EXPECT_EQ(run.ended_early->kind, FaultKind::recording_truncated);
      expect_part_of(run, live.run);
      EXPECT_GE(finished_trials(run), last);
      last = finished_trials(run);
      evaluate(run);
      ++cuts;
    }
  }
  EXPECT_GT(cuts, 20U);
  EXPECT_GT(last, 3U);
}

TEST(Truncated, without_its_last_line_only_it_still_has_all_trials) {
  const Recorded live = eventful(1);
  const ProtocolRun run = replayed(live.text.substr(0, live.text.rfind("{\"end\"")));
  EXPECT_FALSE(run.ended_early);
  expect_equal(run, live.run);
}

TEST(Truncated, a_complete_recording_of_fewer_trials_has_ended) {
  MeasurePlan longer = short_plan();
  longer.trials = 5;
  const Recorded live = eventful(1);
  const ProtocolRun run = replayed(live.text, longer);
  EXPECT_EQ(run.ended_early->kind, FaultKind::recording_ended);
  EXPECT_EQ(finished_trials(run), 6U);
}

std::string refusal(const std::string& text, const MeasurePlan& plan = short_plan(),
                    const std::vector<std::string>& names = {"a", "b"}) {
  try {
    evaluate(replayed(text, plan, names));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

/// "file:12" of the first line that begins so.
std::string place_of(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n" + begin) + 1;
  return "file:" + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

TEST(Mismatch, of_the_stage_or_its_repetitions_is_an_error_with_its_line) {
  const Recorded live = eventful(1);
  const std::string first_run = place_of(live.text, "{\"run\"");
  EXPECT_THAT(refusal(live.text, short_plan(), {"c", "b"}),
              testing::AllOf(StartsWith(first_run + ": "), HasSubstr("of the stage"), HasSubstr("c")));
  MeasurePlan plan = short_plan();
  plan.trial_time = 290ms;  // 99 instead of 102, after the same warm-up
  EXPECT_THAT(refusal(live.text, plan), testing::AllOf(StartsWith("file:"), HasSubstr("repetitions")));
}

TEST(HostileTexts, in_names_survive) {
  for (const std::string& name : {std::string("\"},{\"run\":1}"), std::string("a\nb\r\tc\\"), std::string("\x01\x1b[31m\x7f"),
                                  std::string("nul\0in it", 9), std::string("µ 漢 \xf0\x9f\x94\xa5"), std::string(5000, 'x')}) {
    const Recorded live = eventful(1, name);
    expect_equal(replayed(live.text, short_plan(), {name, "b"}), live.run);
  }
}

// JSON is UTF-8: another byte becomes U+FFFD, for the recorded name and for the stage's that it is compared with.
TEST(HostileTexts, that_are_not_utf8_name_the_same_stage_still) {
  const std::string name = "latin \xe9\xff";
  const Recorded live = eventful(1, name);
  expect_equal(replayed(live.text, short_plan(), {name, "b"}), live.run);
  EXPECT_THAT(refusal(live.text, short_plan(), {"latin", "b"}), HasSubstr("of the stage"));
}

struct Damage {
  const char* line;  ///< how the damaged line begins
  const char* from;
  const char* to;
};

TEST(Damaged, lines_are_errors_that_name_the_line) {
  const std::string text = eventful(1).text;
  const Damage damages[] = {
      {"{\"run\"", "{\"run\":{", "{\"run\":["},
      {"{\"run\"", "{\"run\":{", "{\"run\":7,\"x\":{"},
      {"{\"run\"", "\"stage\"", "\"stag\""},
      {"{\"run\"", "\"stage\":\"a\"", "\"stage\":null"},
      {"{\"run\"", "\"repetitions\":1", "\"repetitions\":-1"},
      {"{\"run\"", "\"repetitions\":1", "\"repetitions\":1.0"},
      {"{\"run\"", "\"repetitions\":1", "\"repetitions\":18446744073709551617"},  // 2^64 + 1 is no 1
      {"{\"run\"", "\"begin_ns\":", "\"begin_ns\":\"\",\"b\":"},
      {"{\"run\"", "\"begin_ns\":", "\"begin_ns\":184467440737095516160000000000,\"b\":"},
      {"{\"run\"", "\"begin_ns\":", "\"begin_ns\":-9223372036854775808,\"b\":"},
      {"{\"run\"", "\"begin_ns\":", "\"begin_ns\":340282366920938463463374607431768211455,\"b\":"},
      {"{\"run\"", "\"end_ns\":", "\"end_ns\":9223372036854775807,\"e\":"},
      {"{\"run\"", "\"end_ns\":", "\"end_ns\":0,\"e\":"},  // before it begins
      {"{\"run\"", "\"fault\":null", "\"fault\":{}"},
      {"{\"run\"", "\"fault\":null", "\"fault\":{\"fault\":\"no such fault\",\"reason\":\"\"}"},
      {"{\"run\"", "\"fault\":null", "\"fault\":5"},
      {"{\"reading\"", "\"t_ns\"", "\"t\""},
      {"{\"telemetry\"", "\"power_mW\"", "\"power\""},
  };
  for (const Damage& damage : damages) {
    std::string damaged = text;
    const std::size_t line = damaged.find(std::string("\n") + damage.line);
    ASSERT_NE(line, std::string::npos);
    const std::size_t at = damaged.find(damage.from, line);
    ASSERT_LT(at, damaged.find('\n', line + 1)) << damage.from;
    damaged.replace(at, std::string(damage.from).size(), damage.to);
    EXPECT_THAT(refusal(damaged), StartsWith(place_of(text, damage.line) + ": ")) << damage.from << " -> " << damage.to;
  }
}

TEST(Damaged, runs_that_overlap_are_an_error) {
  std::string text = eventful(1).text;
  const std::size_t first = text.find("\n{\"run\"") + 1;
  const std::string line = text.substr(first, text.find('\n', first) + 1 - first);
  text.insert(first, line);
  EXPECT_THAT(refusal(text), testing::AllOf(StartsWith("file:"), HasSubstr("before the one before it ended")));
}

/// Whatever one byte is changed to, the replay ends with a run or with Error(bad_input), in finite time.
TEST(Damaged, bytes_are_errors_with_a_line_or_other_numbers) {
  const std::string text = eventful(1).text;
  // Most lines are the tick's readings; the damage should meet others too.
  const std::size_t interesting = text.find("\n{\"run\"");
  const std::string characters = "0123456789-\"{}[]:,.eE\\ \nx\x80";
  SplitMix64 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 120; ++i) {
    std::string damaged = text;
    const std::size_t from = i % 4 == 0 ? 0 : interesting;
    const std::size_t at = from + random.below(text.size() - from);
    damaged[at] = characters[random.below(characters.size())];
    const std::string what = refusal(damaged);
    if (what != "accepted") {
      ++refused;
      EXPECT_THAT(what, StartsWith("file:")) << "byte " << at << " is " << damaged[at];
    }
  }
  EXPECT_GT(refused, 20U);
}

}  // namespace
}  // namespace joulegrid
