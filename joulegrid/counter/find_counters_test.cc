#include "joulegrid/counter/find_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/counter/doubles/tools.h"

namespace joulegrid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A machine with two NVIDIA cards, one AMD card and one processor package, memory and platform included.
class FindCountersTest : public ::testing::Test {
 protected:
  FindCountersTest() {
    zone("intel-rapl:0", "package-0");
    zone("intel-rapl:0/intel-rapl:0:0", "dram");
    zone("intel-rapl:1", "psys");
    options_ = {NVML_DOUBLE, AMDSMI_DOUBLE, folder_.path(), folder_.path() / "no-event-sources"};
  }

  void zone(const std::string& zone, const std::string& name) const {
    folder_.write(zone + "/name", name + "\n");
    folder_.write(zone + "/max_energy_range_uj", "262143328850\n");
    folder_.write(zone + "/energy_uj", "5\n");
  }

  std::vector<std::string> names(const std::vector<FoundCounter>& found) const {
    std::vector<std::string> names;
    for (const FoundCounter& one : found) names.push_back(one.description.name + (one.counter ? "" : " missing"));
    return names;
  }

  /// The error that a name ends in.
  std::string refused(const std::string& name, ErrorCode code) {
    try {
      open_counter(name, options_, time_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << name;
      EXPECT_THAT(error.what(), ::testing::StartsWith("--counter: ")) << name;
      return error.what();
    }
    ADD_FAILURE() << name << " was opened";
    return {};
  }

  VirtualTime time_;
  TemporaryFolder folder_;
  CounterOptions options_;
  DoubleSays nvml_{"JOULEGRID_NVML_DOUBLE",
                   "card\nuuid = GPU-1111aaaa\nbus = 0000:65:00.0\nenergy = 1000\n"
                   "card\nuuid = GPU-2222bbbb\nbus = 0000:81:00.0\nenergy = E3\n"};
  DoubleSays amdsmi_{"JOULEGRID_AMDSMI_DOUBLE", "card\nbus = 0000:03:00.0\nenergy = 1\n"};
};

TEST_F(FindCountersTest, finds_all_kinds_in_a_fixed_order) {
  EXPECT_THAT(names(find_counters(options_, time_)),
              ElementsAre("nvml:GPU-1111aaaa", "nvml:GPU-2222bbbb missing", "amdsmi:0000:03:00.0", "rapl:package",
                          "rapl:package+dram", "rapl:psys", "perf missing"));
}

TEST_F(FindCountersTest, every_kind_has_an_entry_on_any_machine) {
  std::vector<CounterKind> kinds;
  for (const FoundCounter& one : find_counters({}, time_)) {
    kinds.push_back(one.description.kind);
    if (!one.counter) {
      EXPECT_NE(one.counter.fault().reason, "");
    }
  }
  for (const CounterKind kind : {CounterKind::nvml, CounterKind::amdsmi, CounterKind::rapl, CounterKind::perf}) {
    EXPECT_THAT(kinds, Contains(kind)) << kind_name(kind);
  }
}

TEST_F(FindCountersTest, names_lead_to_counters) {
  for (const auto& [name, found] :
       {std::pair{"nvml:GPU-1111aaaa", "nvml:GPU-1111aaaa"}, std::pair{"nvml:gpu-1111", "nvml:GPU-1111aaaa"},
        std::pair{"nvml:65:00.0", "nvml:GPU-1111aaaa"}, std::pair{"amdsmi", "amdsmi:0000:03:00.0"},
        std::pair{"amdsmi:03:00.0", "amdsmi:0000:03:00.0"}, std::pair{"rapl", "rapl:package"},
        std::pair{"rapl:package", "rapl:package"}, std::pair{"rapl:package+dram", "rapl:package+dram"},
        std::pair{"rapl:psys", "rapl:psys"}, std::pair{"none", "none"}}) {
    EXPECT_EQ(open_counter(name, options_, time_)->describe().name, found) << name;
  }
}

TEST_F(FindCountersTest, a_kind_alone_names_all_of_it) {
  EXPECT_THAT(names(find_counters_named("rapl", options_, time_)),
              ElementsAre("rapl:package", "rapl:package+dram", "rapl:psys"));
  EXPECT_THAT(names(find_counters_named("nvml", options_, time_)),
              ElementsAre("nvml:GPU-1111aaaa", "nvml:GPU-2222bbbb missing"));
}

TEST_F(FindCountersTest, names_that_mean_nothing_are_refused) {
  for (const char* name : {"", "nvidia", "NVML", "nvml:", "rapl:", "replay", "replay:", ":", "none:x"}) {
    EXPECT_THAT(refused(name, ErrorCode::bad_input), HasSubstr("replay:FILE")) << name;
  }
  EXPECT_THAT(refused("rapl:core", ErrorCode::bad_input), HasSubstr("there are rapl:package, rapl:package+dram and rapl:psys"));
  EXPECT_THAT(refused("perf:dram", ErrorCode::bad_input), HasSubstr("perf:package+dram"));
  EXPECT_THAT(refused("nvml:0", ErrorCode::bad_input), HasSubstr("not by an index like '0'"));
  EXPECT_THAT(refused("amdsmi:12", ErrorCode::bad_input), HasSubstr("not by an index"));
  EXPECT_THAT(refused("nvml", ErrorCode::bad_input), HasSubstr("name one of nvml:GPU-1111aaaa, nvml:GPU-2222bbbb"));
}

TEST_F(FindCountersTest, a_counter_that_is_not_there_is_unavailable_with_its_reason) {
  EXPECT_THAT(refused("nvml:GPU-2222", ErrorCode::unavailable), HasSubstr("nvml:GPU-2222bbbb: nvmlDeviceGetTotalEnergy"));
  EXPECT_THAT(refused("nvml:GPU-9999", ErrorCode::unavailable), HasSubstr("there is no counter 'nvml:GPU-9999'"));
  EXPECT_THAT(refused("nvml:MIG-1111aaaa", ErrorCode::unavailable), HasSubstr("a part of a board"));
  EXPECT_THAT(refused("perf", ErrorCode::unavailable), HasSubstr("no performance unit 'power'"));
  EXPECT_THAT(refused("perf:psys", ErrorCode::unavailable), HasSubstr("no performance unit 'power'"));
}

TEST_F(FindCountersTest, rapl_means_the_packages_even_where_only_another_zone_is_there) {
  std::filesystem::remove(folder_.path() / "intel-rapl:0" / "energy_uj");
  EXPECT_EQ(open_counter("rapl:psys", options_, time_)->describe().scope, CounterScope::platform);
  EXPECT_THAT(refused("rapl", ErrorCode::unavailable), HasSubstr("rapl:package: package-0 (intel-rapl:0)"));
}

TEST_F(FindCountersTest, a_recording_that_does_not_exist_is_refused) {
  EXPECT_THROW(open_counter("replay:" + (folder_.path() / "missing").string(), options_, time_), Error);
}

TEST_F(FindCountersTest, the_environment_says_where_to_look) {
  const Variable nvml("JOULEGRID_NVML_LIBRARY", "/a/nvml.so");
  const Variable amdsmi("JOULEGRID_AMDSMI_LIBRARY", "/a/amdsmi.so");
  const Variable powercap("JOULEGRID_POWERCAP_ROOT", "/a/powercap");
  const CounterOptions options = CounterOptions::from_environment();
  EXPECT_EQ(options.nvml_library, "/a/nvml.so");
  EXPECT_EQ(options.amdsmi_library, "/a/amdsmi.so");
  EXPECT_EQ(options.powercap_root, "/a/powercap");
  EXPECT_EQ(options.event_sources, "");
}

TEST_F(FindCountersTest, paths_that_were_given_must_lead_somewhere) {
  for (std::string CounterOptions::*library : {&CounterOptions::nvml_library, &CounterOptions::amdsmi_library}) {
    CounterOptions wrong = options_;
    wrong.*library = (folder_.path() / "missing.so").string();
    EXPECT_THROW(find_counters(wrong, time_), Error);
  }
  CounterOptions wrong = options_;
  wrong.powercap_root = folder_.path() / "missing";
  EXPECT_THROW(find_counters(wrong, time_), Error);
}

}  // namespace
}  // namespace joulegrid
