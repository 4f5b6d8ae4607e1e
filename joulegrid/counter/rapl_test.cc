#include "joulegrid/counter/rapl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "joulegrid/counter/doubles/tools.h"

namespace joulegrid {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t usual_range = 262'143'328'850;  // 2^32 - 1 units of 61 µJ
constexpr const char* package = "intel-rapl:0";

class RaplTest : public ::testing::Test {
 protected:
  void zone(const fs::path& zone, const std::string& name, std::uint64_t energy, std::uint64_t range = usual_range) const {
    tree_.write(zone / "name", name + "\n");
    tree_.write(zone / "enabled", "1\n");
    tree_.write(zone / "max_energy_range_uj", std::to_string(range) + "\n");
    set(zone, energy);
  }

  void set(const fs::path& zone, std::uint64_t energy) const { tree_.write(zone / "energy_uj", std::to_string(energy) + "\n"); }

  std::vector<FoundCounter> found() { return find_rapl(tree_.path(), time_); }

  /// The counter of that name.
  std::unique_ptr<EnergyCounter> counter(const std::string& name = "rapl:package") {
    for (FoundCounter& one : found()) {
      if (one.description.name != name) continue;
      EXPECT_TRUE(one.counter) << one.counter.fault().reason;
      return std::move(one.counter.value());
    }
    ADD_FAILURE() << "no " << name;
    return nullptr;
  }

  /// Why there is no counter rapl:package.
  Fault fault() { return found().front().counter.fault(); }

  /// Microjoules that the next reading says.
  static Wide energy(EnergyCounter& counter) { return counter.read().value().energy.count(); }

  VirtualTime time_;
  TemporaryFolder tree_;
};

FaultKind fault_of(EnergyCounter& counter) { return counter.read().fault().kind; }

TEST_F(RaplTest, counts_from_where_it_was_opened) {
  zone(package, "package-0", 123'456'789);
  const auto rapl = counter();
  EXPECT_EQ(energy(*rapl), Wide{0});
  time_.sleep_for(seconds(1));
  set(package, 128'456'790);
  const Measured<Reading> reading = rapl->read();
  EXPECT_EQ(reading.value().energy, Microjoules(5'000'001));
  EXPECT_EQ(reading.value().at, time_.now());
}

TEST_F(RaplTest, describes_the_package_and_what_it_contains) {
  zone(package, "package-0", 1);
  zone("intel-rapl:0/intel-rapl:0:0", "core", 1);
  zone("intel-rapl:0/intel-rapl:0:1", "uncore", 1);
  const std::vector<FoundCounter> all = found();
  ASSERT_EQ(all.size(), 1U);
  const CounterDescription& is = all[0].description;
  EXPECT_EQ(is.kind, CounterKind::rapl);
  EXPECT_EQ(is.name, "rapl:package");
  EXPECT_EQ(is.scope, CounterScope::cpu_package);
  EXPECT_EQ(is.unit, "1 µJ");
  EXPECT_THAT(is.includes, ElementsAre("package-0 (intel-rapl:0), which contains core, uncore"));
  EXPECT_THAT(is.notes, IsEmpty());
  EXPECT_TRUE(is.longest_gap);
}

TEST_F(RaplTest, parts_of_the_package_are_not_added_to_it) {
  zone(package, "package-0", 0);
  zone("intel-rapl:0/intel-rapl:0:0", "core", 0);
  const auto rapl = counter();
  time_.sleep_for(seconds(1));
  set(package, 10'000'000);
  set("intel-rapl:0/intel-rapl:0:0", 7'000'000);
  EXPECT_EQ(energy(*rapl), Wide{10'000'000});
}

TEST_F(RaplTest, a_wrap_continues_the_count) {
  zone(package, "package-0", usual_range - 1000);
  const auto rapl = counter();
  time_.sleep_for(seconds(1));
  set(package, 500);
  EXPECT_EQ(energy(*rapl), Wide{1500});
  set(package, 700);
  EXPECT_EQ(energy(*rapl), Wide{1700});
}

TEST_F(RaplTest, several_wraps_in_one_window_are_counted_where_it_is_polled) {
  constexpr std::uint64_t range = 100'000'000;  // 100 J, of which 1 kW uses 39 in 39 ms
  zone(package, "package-0", 0, range);
  const auto rapl = counter();
  std::uint64_t used = 0;
  for (int poll = 0; poll < 20; ++poll) {
    time_.sleep_for(milliseconds(39));
    used += 39'000'000;
    set(package, used % range);
    EXPECT_EQ(energy(*rapl), Wide{used});
  }
  EXPECT_EQ(used, 780'000'000U) << "seven wraps";
}

TEST_F(RaplTest, it_can_be_read_as_seldom_as_it_says_and_no_more_seldom) {
  constexpr std::uint64_t range = 100'000'000;
  zone(package, "package-0", 0, range);
  const auto rapl = counter();
  // 2 kW use the range in 50 ms; 10 ms are for the tick.
  const auto gap = rapl->describe().longest_gap.value();
  EXPECT_EQ(gap, microseconds(39'999));
  time_.sleep_for(gap);
  set(package, 5);
  EXPECT_EQ(energy(*rapl), Wide{5});
  time_.sleep_for(gap + microseconds(1));
  set(package, 6);
  EXPECT_EQ(fault_of(*rapl), FaultKind::poll_gap);
  EXPECT_EQ(fault_of(*rapl), FaultKind::poll_gap) << "for good: it is not known how often it wrapped";
}

TEST_F(RaplTest, the_usual_range_lasts_two_minutes_at_two_kilowatts) {
  zone(package, "package-0", 0);
  EXPECT_EQ(counter()->describe().longest_gap.value(), microseconds(131'071'664 - 10'000));
}

TEST_F(RaplTest, a_counter_that_cannot_be_read_says_why) {
  zone(package, "package-0", 0);
  fs::remove(tree_.path() / package / "energy_uj");
  EXPECT_EQ(fault().kind, FaultKind::not_present);
  fs::create_directory(tree_.path() / package / "energy_uj");
  EXPECT_EQ(fault().kind, FaultKind::source_error);
  EXPECT_THAT(fault().reason, HasSubstr("package-0 (intel-rapl:0): "));
}

TEST_F(RaplTest, a_counter_that_only_root_may_read_is_a_matter_of_permission) {
  zone(package, "package-0", 0);
  fs::permissions(tree_.path() / package / "energy_uj", fs::perms::none);
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  EXPECT_EQ(fault().kind, FaultKind::no_permission);
  EXPECT_THAT(fault().reason, HasSubstr("scripts/enable_counters.sh"));
}

TEST_F(RaplTest, what_is_no_count_is_malformed) {
  for (const char* text : {"", "\n", "-1\n", "+1\n", "1.5\n", " 1\n", "1 2\n", "0x10\n", "18446744073709551616\n", "many\n"}) {
    zone(package, "package-0", 0);
    tree_.write(fs::path(package) / "energy_uj", text);
    EXPECT_EQ(fault().kind, FaultKind::malformed) << text;
  }
  zone(package, "package-0", 1001, 1000);
  EXPECT_EQ(fault().kind, FaultKind::malformed) << "more than the range";
  tree_.write(fs::path(package) / "energy_uj", std::string(5000, '1'));
  EXPECT_EQ(fault().kind, FaultKind::malformed);
}

TEST_F(RaplTest, a_range_that_cannot_be_polled_is_malformed) {
  // 40 J are what 2 kW use in 20 ms.
  for (const char* text : {"0\n", "39999999\n", "9223372036854775808\n", "much\n"}) {
    zone(package, "package-0", 0);
    tree_.write(fs::path(package) / "max_energy_range_uj", text);
    EXPECT_EQ(fault().kind, FaultKind::malformed) << text;
  }
  fs::remove(tree_.path() / package / "max_energy_range_uj");
  EXPECT_EQ(fault().kind, FaultKind::not_present);
}

TEST_F(RaplTest, a_value_that_makes_no_sense_passes) {
  zone(package, "package-0", 0);
  const auto rapl = counter();
  time_.sleep_for(seconds(1));
  set(package, usual_range + 1);
  EXPECT_EQ(fault_of(*rapl), FaultKind::malformed);
  set(package, 7);
  EXPECT_EQ(energy(*rapl), Wide{7});
}

TEST_F(RaplTest, a_zone_that_has_gone_stays_lost) {
  zone(package, "package-0", 0);
  const auto rapl = counter();
  fs::remove_all(tree_.path() / package);
  EXPECT_EQ(fault_of(*rapl), FaultKind::device_lost);
  zone(package, "package-0", 5);
  EXPECT_EQ(fault_of(*rapl), FaultKind::device_lost) << "the module was loaded anew";
}

TEST_F(RaplTest, a_counter_that_jumps_ends_for_good) {
  struct Case {
    std::uint64_t value;  // a second after 50 kJ, with 2 kW at most
    FaultKind kind;
  };
  for (const Case& is : {Case{100, FaultKind::reset}, Case{49'000'000'000, FaultKind::went_backwards},
                         Case{60'000'000'000, FaultKind::malformed}}) {
    zone(package, "package-0", 50'000'000'000);
    const auto rapl = counter();
    time_.sleep_for(seconds(1));
    set(package, is.value);
    EXPECT_EQ(fault_of(*rapl), is.kind);
    set(package, is.value + 1);
    EXPECT_EQ(fault_of(*rapl), is.kind) << "for good";
  }
}

TEST_F(RaplTest, a_zone_that_is_switched_off_and_stands_still_is_no_counter) {
  zone(package, "package-0", 0);
  tree_.write(fs::path(package) / "enabled", "0\n");
  EXPECT_EQ(fault().kind, FaultKind::zone_disabled);
}

TEST_F(RaplTest, a_zone_that_is_switched_off_and_counts_is_one) {
  zone(package, "package-0", 0);
  tree_.write(fs::path(package) / "enabled", "0\n");
  time_.while_asleep = [&, now = std::uint64_t{0}]() mutable { set(package, now += 1000); };
  EXPECT_NE(counter(), nullptr);
}

TEST_F(RaplTest, sockets_and_dies_are_added) {
  zone("intel-rapl:0", "package-0-die-0", 100);
  zone("intel-rapl:1", "package-1-die-0", 200);
  zone("intel-rapl:2", "package-0-die-1", 300);
  zone("intel-rapl:10", "package-1-die-1", 400);
  const auto rapl = counter();
  EXPECT_THAT(rapl->describe().includes, ElementsAre("package-0-die-0 (intel-rapl:0)", "package-1-die-0 (intel-rapl:1)",
                                                     "package-0-die-1 (intel-rapl:2)", "package-1-die-1 (intel-rapl:10)"));
  EXPECT_THAT(rapl->describe().notes, IsEmpty());
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 101);
  set("intel-rapl:1", 220);
  set("intel-rapl:2", 600);
  set("intel-rapl:10", 4400);
  EXPECT_EQ(energy(*rapl), Wide{1 + 20 + 300 + 4000});
}

TEST_F(RaplTest, dies_that_show_one_counter_are_counted_once) {
  zone("intel-rapl:0", "package-0-die-0", 100);
  zone("intel-rapl:1", "package-0-die-1", 100);
  zone("intel-rapl:2", "package-1-die-0", 100);
  zone("intel-rapl:3", "package-1-die-1", 100);
  const auto rapl = counter();
  EXPECT_THAT(rapl->describe().includes, ElementsAre("package-0-die-0 (intel-rapl:0)", "package-1-die-0 (intel-rapl:2)"));
  EXPECT_THAT(
      rapl->describe().notes,
      ElementsAre(
          "package-0-die-1 (intel-rapl:1) shows the counter of package-0-die-0 (intel-rapl:0) and is not counted again",
          "package-1-die-1 (intel-rapl:3) shows the counter of package-1-die-0 (intel-rapl:2) and is not counted again"));
  time_.sleep_for(seconds(1));
  for (const char* die : {"intel-rapl:0", "intel-rapl:1"}) set(die, 150);
  for (const char* die : {"intel-rapl:2", "intel-rapl:3"}) set(die, 107);
  EXPECT_EQ(energy(*rapl), Wide{57});
}

TEST_F(RaplTest, one_zone_that_fails_is_not_left_out_of_the_sum) {
  zone("intel-rapl:0", "package-0", 100);
  zone("intel-rapl:1", "package-1", 200);
  const auto rapl = counter();
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 1100);
  tree_.write("intel-rapl:1/energy_uj", "");
  EXPECT_EQ(fault_of(*rapl), FaultKind::malformed);
  set("intel-rapl:1", 250);
  EXPECT_EQ(energy(*rapl), Wide{1050});
}

TEST_F(RaplTest, memory_is_beside_the_package) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:0/intel-rapl:0:0", "core", 0);
  zone("intel-rapl:0/intel-rapl:0:1", "dram", 0);
  zone("intel-rapl:1", "package-1", 0);
  zone("intel-rapl:1/intel-rapl:1:0", "dram", 0);
  const auto with_dram = counter("rapl:package+dram");
  const auto without = counter();
  EXPECT_EQ(with_dram->describe().scope, CounterScope::package_and_dram);
  EXPECT_THAT(with_dram->describe().includes,
              ElementsAre("package-0 (intel-rapl:0), which contains core", "package-1 (intel-rapl:1)",
                          "package-0 dram (intel-rapl:0:1)", "package-1 dram (intel-rapl:1:0)"));
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 1000);
  set("intel-rapl:0/intel-rapl:0:0", 900);
  set("intel-rapl:0/intel-rapl:0:1", 20);
  set("intel-rapl:1", 3000);
  set("intel-rapl:1/intel-rapl:1:0", 4);
  EXPECT_EQ(energy(*with_dram), Wide{4024});
  EXPECT_EQ(energy(*without), Wide{4000});
}

TEST_F(RaplTest, memory_of_some_sockets_only_is_no_counter) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:0/intel-rapl:0:0", "dram", 0);
  zone("intel-rapl:1", "package-1", 0);
  const std::vector<FoundCounter> all = found();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].counter);
  EXPECT_EQ(all[1].description.name, "rapl:package+dram");
  EXPECT_EQ(all[1].counter.fault().kind, FaultKind::not_present);
  EXPECT_THAT(all[1].counter.fault().reason, HasSubstr("package-1"));
}

TEST_F(RaplTest, the_platform_is_a_counter_of_its_own) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:1", "psys", 0);
  const auto psys = counter("rapl:psys");
  const auto packages = counter();
  EXPECT_EQ(psys->describe().scope, CounterScope::platform);
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 1000);
  set("intel-rapl:1", 5000);
  EXPECT_EQ(energy(*psys), Wide{5000});
  EXPECT_EQ(energy(*packages), Wide{1000});
}

TEST_F(RaplTest, the_platform_may_use_more_than_a_package) {
  zone("intel-rapl:0", "psys", 0);
  const auto psys = counter("rapl:psys");
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 9'000'000'000);
  EXPECT_EQ(energy(*psys), Wide{9'000'000'000});
}

TEST_F(RaplTest, a_package_that_stands_under_two_interfaces_is_counted_once) {
  zone("intel-rapl-mmio:0", "package-0", 77);
  zone("intel-rapl:0", "package-0", 100);
  const auto rapl = counter();
  EXPECT_THAT(rapl->describe().includes, ElementsAre("package-0 (intel-rapl:0)"));
  EXPECT_THAT(rapl->describe().notes,
              ElementsAre("package-0 (intel-rapl-mmio:0) is package-0 (intel-rapl:0) once more and is not counted again"));
  time_.sleep_for(seconds(1));
  set("intel-rapl:0", 150);
  set("intel-rapl-mmio:0", 177);
  EXPECT_EQ(energy(*rapl), Wide{50});
}

TEST_F(RaplTest, parts_may_stand_beside_their_zone) {  // as the links of /sys/class/powercap do
  zone("intel-rapl:1", "package-1", 0);
  zone("intel-rapl:1:0", "dram", 0);
  zone("intel-rapl:10", "package-10", 0);
  zone("intel-rapl:10:0", "dram", 0);
  EXPECT_THAT(counter("rapl:package+dram")->describe().includes,
              ElementsAre("package-1 (intel-rapl:1)", "package-10 (intel-rapl:10)", "package-1 dram (intel-rapl:1:0)",
                          "package-10 dram (intel-rapl:10:0)"));
}

TEST_F(RaplTest, a_tree_without_packages_has_no_counter) {
  zone("dtpm:0", "cpu", 0);
  tree_.write("intel-rapl/enabled", "1\n");
  const std::vector<FoundCounter> all = found();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].description.name, "rapl");
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::not_present);
  EXPECT_THAT(all[0].counter.fault().reason, HasSubstr(tree_.path().string()));
}

TEST_F(RaplTest, a_folder_that_does_not_exist_is_unavailable) {
  for (const fs::path& root : {tree_.path() / "missing", tree_.write("file", "")}) {
    try {
      find_rapl(root, time_);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_THAT(error.what(), HasSubstr("powercap root"));
    }
  }
}

}  // namespace
}  // namespace joulegrid
