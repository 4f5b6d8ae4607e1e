#include "joulegrid/report/counters_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "joulegrid/base/json.h"

namespace joulegrid {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

class VirtualTime final : public TimeSource {
 public:
  Instant now() override { return now_; }
  void sleep_for(std::chrono::nanoseconds duration) override { now_ += duration; }

 private:
  Instant now_;
};

/// 250 W in steps of 20 ms; or one that stands still.
class Steps final : public EnergyCounter {
 public:
  Steps(CounterDescription description, TimeSource& time, bool still = false)
      : description_(std::move(description)), time_(time), still_(still) {}
  const CounterDescription& describe() const override { return description_; }
  Measured<Reading> read() override {
    constexpr Wide microjoules_per_step = 5'000'000;
    const auto steps = static_cast<Wide>(time_.now().time_since_epoch() / milliseconds(20));
    return Reading{Microjoules(still_ ? 7 : steps * microjoules_per_step), time_.now(), {}};
  }

 private:
  CounterDescription description_;
  TimeSource& time_;
  bool still_;
};

CounterDescription board(const std::string& uuid) {
  CounterDescription board;
  board.kind = CounterKind::nvml;
  board.name = "nvml:" + uuid;
  board.scope = CounterScope::gpu_board;
  board.includes = {"the whole board"};
  board.unit = "1 mJ";
  board.device = {uuid, PciAddress{0, 0x65, 0, 0}, "A Card"};
  board.driver = "550.54.15";
  return board;
}

class CountersReportTest : public ::testing::Test {
 protected:
  CountersReportTest() {
    const CounterDescription first = board("GPU-11111111-2222-3333-4444-555566667777");
    found_.push_back({first, std::unique_ptr<EnergyCounter>(std::make_unique<Steps>(first, time_))});
    CounterDescription still = board("GPU-2");
    still.notes = {"a note"};
    still.longest_gap = milliseconds(1500);
    found_.push_back({still, std::unique_ptr<EnergyCounter>(std::make_unique<Steps>(still, time_, true))});
    CounterDescription none;
    none.kind = CounterKind::amdsmi;
    none.name = "amdsmi";
    none.scope = CounterScope::gpu_board;
    std::string reason = "cannot load it";
    for (int i = 0; i < 40; ++i) reason += " because of this";
    found_.push_back({none, Fault{FaultKind::library_missing, reason}});
  }

  VirtualTime time_;
  std::vector<FoundCounter> found_;
};

TEST_F(CountersReportTest, document_has_the_tick_or_its_reason) {
  const Json json = parse_json(counters_document(counters_report(found_, time_)), "doc");
  EXPECT_EQ(json["schema_version"], 1);
  ASSERT_EQ(json["counters"].size(), 3U);
  const Json& ticking = json["counters"][0];
  EXPECT_EQ(ticking["name"], "nvml:GPU-11111111-2222-3333-4444-555566667777");
  EXPECT_EQ(ticking["kind"], "nvml");
  EXPECT_EQ(ticking["available"], true);
  EXPECT_TRUE(ticking["reason"].is_null());
  EXPECT_EQ(ticking["scope"], "GPU board");
  EXPECT_EQ(ticking["unit"], "1 mJ");
  EXPECT_EQ(ticking["resolution_uJ"], 5'000'000);
  for (const char* which : {"shortest", "median", "longest"}) {
    EXPECT_NEAR(ticking["tick_ms"][which].get<double>(), 20, 0.2) << which;
  }
  EXPECT_TRUE(ticking["tick_reason"].is_null());
  EXPECT_EQ(ticking["device"]["uuid"], "GPU-11111111-2222-3333-4444-555566667777");
  EXPECT_EQ(ticking["device"]["pci"], "0000:65:00.0");
  EXPECT_EQ(ticking["driver"], "550.54.15");

  const Json& still = json["counters"][1];
  EXPECT_EQ(still["available"], true);
  EXPECT_TRUE(still["tick_ms"].is_null());
  EXPECT_TRUE(still["resolution_uJ"].is_null());
  EXPECT_EQ(still["tick_reason"]["fault"], "frozen");
  EXPECT_EQ(still["longest_gap_ms"], 1500.0);
  EXPECT_EQ(still["notes"][0], "a note");

  const Json& none = json["counters"][2];
  EXPECT_EQ(none["available"], false);
  EXPECT_EQ(none["reason"]["fault"], "library_missing");
  EXPECT_EQ(none["tick_reason"], none["reason"]);
  EXPECT_TRUE(none["device"].is_null());
  EXPECT_TRUE(none["driver"].is_null());
  EXPECT_TRUE(none["unit"].is_null());
  EXPECT_TRUE(none["includes"].empty());
  EXPECT_FALSE(json.contains("interrupted"));
}

TEST_F(CountersReportTest, text_says_everything_within_the_text_width) {
  const std::string text = counters_text(counters_report(found_, time_), {});
  for (const char* part :
       {"2 of 3 found", "nvml:GPU-11111111-2222-3333-4444-555566667777 ", "20.0 ms", "5.00 J", "A Card at 0000:65:00.0",
        "did not change within 1000 ms (frozen)", "note: a note", "every 1.50 s", "Not found", "(library_missing)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), text_width) << line;
}

TEST_F(CountersReportTest, a_machine_without_counters_has_no_table) {
  found_.erase(found_.begin(), found_.begin() + 2);
  const std::string text = counters_text(counters_report(found_, time_), {});
  EXPECT_THAT(text, HasSubstr("0 of 1 found"));
  EXPECT_THAT(text, Not(HasSubstr("Resolution")));
}

TEST_F(CountersReportTest, an_interrupt_leaves_out_ticks_and_says_so) {
  Stop stop;
  stop.request();
  const CountersReport report = counters_report(found_, time_, {}, &stop);
  EXPECT_FALSE(report.complete);
  const Json json = parse_json(counters_document(report), "doc");
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["counters"][0]["tick_reason"]["fault"], "not_asked");
  EXPECT_EQ(json["counters"][2]["tick_reason"]["fault"], "library_missing");
}

TEST_F(CountersReportTest, a_name_that_is_not_utf_8_does_not_break_the_document) {
  found_[0].description.device.name = "Card \xff";
  const Json json = parse_json(counters_document(counters_report(found_, time_)), "doc");
  EXPECT_EQ(json["counters"][0]["device"]["name"], "Card \xEF\xBF\xBD");
}

}  // namespace
}  // namespace joulegrid
