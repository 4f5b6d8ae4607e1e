#include "joulegrid/counter/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "joulegrid/counter/doubles/tools.h"
#include "joulegrid/counter/find_counters.h"

namespace joulegrid {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* one_card = "card\nuuid = GPU-1111aaaa-0000\nbus = 00000000:65:00.0\nname = A Card 80GB\n";

class NvmlTest : public ::testing::Test {
 protected:
  /// What NVML is found to have where it says this.
  std::vector<FoundCounter> found(const std::string& profile, const char* library = NVML_DOUBLE) {
    says_.emplace("JOULEGRID_NVML_DOUBLE", profile);
    return find_nvml(library, time_);
  }

  /// The counter of one card that says `lines`.
  std::unique_ptr<EnergyCounter> counter(const std::string& lines, const char* library = NVML_DOUBLE) {
    std::vector<FoundCounter> all = found(one_card + lines, library);
    EXPECT_EQ(all.size(), 1U);
    EXPECT_TRUE(all.front().counter) << all.front().counter.fault().reason;
    return std::move(all.front().counter.value());
  }

  /// Why there is no counter for one card that says `lines`.
  Fault fault(const std::string& lines) {
    std::vector<FoundCounter> all = found(one_card + lines);
    EXPECT_EQ(all.size(), 1U);
    return all.front().counter.fault();
  }

  VirtualTime time_;
  std::optional<DoubleSays> says_;
};

/// Microjoules that the next reading says.
Wide energy(EnergyCounter& counter) { return counter.read().value().energy.count(); }

FaultKind fault_of(EnergyCounter& counter) { return counter.read().fault().kind; }

TEST_F(NvmlTest, counts_millijoules_since_the_driver_was_loaded) {
  const auto nvml = counter("energy = 5000 7500\n");
  const Measured<Reading> reading = nvml->read();
  EXPECT_EQ(reading.value().energy, Microjoules(7'500'000));
  EXPECT_EQ(reading.value().at, time_.now());
}

TEST_F(NvmlTest, the_largest_count_is_exact) {
  EXPECT_EQ(energy(*counter("energy = 18446744073709551000 18446744073709551615\n")),
            parse_wide("18446744073709551615000", ""));
}

TEST_F(NvmlTest, a_jump_that_no_board_can_make_ends_the_counter) {
  // 100 kW for a second's grace are 100 kJ.
  const auto nvml = counter("energy = 5000 100005000 200005001 200005002\n");
  EXPECT_EQ(energy(*nvml), parse_wide("100005000000", ""));
  EXPECT_EQ(fault_of(*nvml), FaultKind::malformed);
  EXPECT_EQ(fault_of(*nvml), FaultKind::malformed);
}

TEST_F(NvmlTest, counts_a_profile_of_power_that_changes_in_time) {
  // 100 W for 100 ms, nothing for 100 ms, then 1000 W, in ticks of 10 ms.
  const auto nvml = counter("live = 0:100000 100:0 200:1000000 10\n");
  const Wide opened = energy(*nvml);
  std::this_thread::sleep_for(std::chrono::milliseconds(320));
  const Wide used = energy(*nvml) - opened;
  EXPECT_GE(used, 100'000'000U);  // at least 100 ms of 1000 W
  EXPECT_EQ(nvml->telemetry().power_mw.value(), 1'000'000U);
  const Wide before = energy(*nvml);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GE(energy(*nvml) - before, 40'000'000U);
  EXPECT_EQ((energy(*nvml) - before) % 10'000'000, 0U);  // whole ticks of 1000 W
}

TEST_F(NvmlTest, describes_the_board) {
  const auto nvml = counter("energy = 1\n");
  const CounterDescription& is = nvml->describe();
  EXPECT_EQ(is.kind, CounterKind::nvml);
  EXPECT_EQ(is.name, "nvml:GPU-1111aaaa-0000");
  EXPECT_EQ(is.scope, CounterScope::gpu_board);
  EXPECT_EQ(is.unit, "1 mJ");
  EXPECT_EQ(is.driver, "550.54.15");
  EXPECT_EQ(is.device.uuid, "GPU-1111aaaa-0000");
  EXPECT_EQ(is.device.name, "A Card 80GB");
  EXPECT_EQ(is.device.pci, (PciAddress{0, 0x65, 0, 0}));
  EXPECT_EQ(is.longest_gap, std::nullopt);
  EXPECT_THAT(is.notes, IsEmpty());
}

TEST_F(NvmlTest, a_card_without_the_counter_is_not_supported_and_not_zero) {
  const Fault says = fault("energy = E3\n");
  EXPECT_EQ(says.kind, FaultKind::not_supported);
  EXPECT_EQ(says.reason, "nvmlDeviceGetTotalEnergyConsumption says 3 (Not Supported)");
}

TEST_F(NvmlTest, a_refusal_is_a_matter_of_permission) {
  const Fault says = fault("energy = E4\n");
  EXPECT_EQ(says.kind, FaultKind::no_permission);
  EXPECT_THAT(says.reason, HasSubstr("says 4 (Insufficient Permissions); an administrator decides"));
}

TEST_F(NvmlTest, a_device_that_is_lost_stays_lost) {
  for (const char* code : {"E15", "E16"}) {
    const auto nvml = counter(std::string("energy = 1000 2000 ") + code + " 3000\n");
    EXPECT_EQ(energy(*nvml), Wide{2'000'000});
    EXPECT_EQ(fault_of(*nvml), FaultKind::device_lost);
    EXPECT_EQ(fault_of(*nvml), FaultKind::device_lost) << "3000 mJ are no continuation";
  }
}

TEST_F(NvmlTest, a_failure_of_one_read_passes) {
  const auto nvml = counter("energy = 1000 E999 2000\n");
  EXPECT_EQ(fault_of(*nvml), FaultKind::source_error);
  EXPECT_EQ(energy(*nvml), Wide{2'000'000});
}

TEST_F(NvmlTest, a_reload_of_the_driver_ends_the_counter_for_good) {
  for (const char* anew : {"0", "40000"}) {  // 40 J are less than 100 kW use in a second
    const auto nvml = counter(std::string("energy = 5000000 ") + anew + " 6000000\n");
    time_.sleep_for(std::chrono::seconds(1));
    const Measured<Reading> reading = nvml->read();
    EXPECT_EQ(reading.fault().kind, FaultKind::reset);
    EXPECT_THAT(reading.fault().reason, HasSubstr("from 5000000000 to "));
    EXPECT_EQ(fault_of(*nvml), FaultKind::reset);
  }
}

TEST_F(NvmlTest, a_counter_that_goes_backwards_ends_for_good) {
  const auto nvml = counter("energy = 5000000 4999000 6000000\n");  // mJ; in 10 ms, in which 100 kW use 1 kJ
  time_.sleep_for(milliseconds(10));
  EXPECT_EQ(fault_of(*nvml), FaultKind::went_backwards);
  EXPECT_EQ(fault_of(*nvml), FaultKind::went_backwards);
}

TEST_F(NvmlTest, a_frozen_counter_is_no_energy_of_zero) {
  const auto nvml = counter("energy = 1000\n");
  const Measured<Reading> first = nvml->read();
  time_.sleep_for(milliseconds(159));
  EXPECT_EQ(energy_between(first, nvml->read(), milliseconds(20)).value(), Microjoules(0)) << "not eight ticks yet";
  time_.sleep_for(milliseconds(1));
  EXPECT_EQ(energy_between(first, nvml->read(), milliseconds(20)).fault().kind, FaultKind::zero_delta);
}

TEST_F(NvmlTest, a_board_with_mig_on_is_refused) {
  EXPECT_EQ(fault("energy = 1000\nmig = 1\n").kind, FaultKind::partitioned);
  EXPECT_EQ(fault("energy = 1000\nmig = E4\n").kind, FaultKind::no_permission) << "it may be on";
  EXPECT_EQ(counter("energy = 1000\nmig = 0\n")->describe().name, "nvml:GPU-1111aaaa-0000");
}

TEST_F(NvmlTest, says_why_nvml_does_not_start) {
  struct Case {
    const char* profile;
    FaultKind kind;
    const char* reason;
  };
  for (const Case& is :
       {Case{"init = E18\n", FaultKind::version_mismatch,
             "nvmlInit_v2 says 18 (Driver/library version mismatch); restart the machine"},
        Case{"init = E9\n", FaultKind::driver_not_loaded, "says 9 (Driver Not Loaded); load the kernel module"},
        Case{"init = E12\n", FaultKind::library_missing, "says 12"}, Case{"init = E13\n", FaultKind::symbol_missing, "says 13"},
        Case{"count = E999\n", FaultKind::source_error, "nvmlDeviceGetCount_v2 says 999"},
        Case{"", FaultKind::not_present, "no GPU"}}) {
    const std::vector<FoundCounter> all = found(is.profile);
    ASSERT_EQ(all.size(), 1U) << is.profile;
    EXPECT_EQ(all[0].description.name, "nvml");
    EXPECT_EQ(all[0].description.scope, CounterScope::gpu_board);
    EXPECT_EQ(all[0].counter.fault().kind, is.kind) << is.profile;
    EXPECT_THAT(all[0].counter.fault().reason, HasSubstr(is.reason));
  }
}

TEST_F(NvmlTest, a_library_without_the_counter_says_which_function_it_lacks) {
  const std::vector<FoundCounter> all = found(one_card, NVML_DOUBLE_WITHOUT_ENERGY);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::symbol_missing);
  EXPECT_THAT(all[0].counter.fault().reason, HasSubstr("nvmlDeviceGetTotalEnergyConsumption"));
}

TEST_F(NvmlTest, a_path_that_is_no_library_is_unavailable) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.write("text.so", "not a library"), folder.path() / "missing.so", folder.path()}) {
    try {
      find_nvml(path.string(), time_);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
}

TEST_F(NvmlTest, cards_that_cannot_be_counted_stand_beside_those_that_can) {
  const std::vector<FoundCounter> all = found(
      "card\nuuid = GPU-aaaaaaaa\nenergy = E3\n"
      "card\nhandle = E15\n"
      "card\nenergy = 5\n"  // neither UUID nor address
      "card\nbus = 0000:81:00.0\nenergy = 5\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(all[1].counter.fault().kind, FaultKind::device_lost);
  EXPECT_EQ(all[2].counter.fault().kind, FaultKind::malformed);
  EXPECT_EQ(all[2].description.name, "nvml:device 2");
  EXPECT_TRUE(all[3].counter);
  EXPECT_EQ(all[3].description.name, "nvml:0000:81:00.0");
}

TEST_F(NvmlTest, persistence_that_is_off_is_noted) {
  EXPECT_THAT(counter("energy = 1\npersistence = 0\n")->describe().notes, ElementsAre(HasSubstr("persistence mode is off")));
  EXPECT_THAT(counter("energy = 1\npersistence = 1\n")->describe().notes, IsEmpty());
}

/// Two cards of one make; CUDA would call the second one device 0 if it is the faster one.
constexpr const char* twins =
    "card\nuuid = GPU-1111aaaa-0000\nbus = 00000000:65:00.0\nname = Twin\nenergy = 1000\n"
    "card\nuuid = GPU-1111bbbb-0000\nbus = 00000000:03:00.0\nname = Twin\nenergy = 2000\n";

TEST_F(NvmlTest, identical_cards_are_told_apart_by_uuid_or_pci_address) {
  const DoubleSays says("JOULEGRID_NVML_DOUBLE", twins);
  CounterOptions options;
  options.nvml_library = NVML_DOUBLE;
  for (const char* second : {"nvml:GPU-1111bbbb-0000", "nvml:gpu-1111BBBB", "nvml:GPU-1111b", "nvml:0000:03:00.0",
                             "nvml:00000000:03:00.0", "nvml:03:00.0"}) {
    const auto opened = open_counter(second, options, time_);
    EXPECT_EQ(opened->describe().name, "nvml:GPU-1111bbbb-0000") << second;
    EXPECT_EQ(energy(*opened), Wide{2'000'000}) << second;
  }
  EXPECT_EQ(energy(*open_counter("nvml:65:00.0", options, time_)), Wide{1'000'000});
}

TEST_F(NvmlTest, a_name_for_several_cards_is_refused) {
  const DoubleSays says("JOULEGRID_NVML_DOUBLE", twins);
  CounterOptions options;
  options.nvml_library = NVML_DOUBLE;
  for (const auto& [name, reason] : {std::pair{"nvml:GPU-1111", "begins the UUIDs of several devices"},
                                     std::pair{"nvml", "name one of nvml:GPU-1111aaaa-0000, nvml:GPU-1111bbbb-0000"},
                                     std::pair{"nvml:1", "not by an index like '1'"}}) {
    try {
      open_counter(name, options, time_);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << name;
      EXPECT_THAT(error.what(), HasSubstr(reason));
    }
  }
  for (const char* name : {"nvml:GPU-9999", "nvml:04:00.0", "nvml:GPU-11", "nvml:MIG-1111aaaa"}) {
    try {
      open_counter(name, options, time_);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable) << name;
    }
  }
}

constexpr const char* full_telemetry =
    "energy = 1\ninstant = 251000\npower = 240000\nlimit = 400000\ntemperature = 61\n"
    "graphics_clock = 1410\nsm_clock = 1395\nmemory_clock = 1593\nevents = 0x44\nthrottle = 0x8\nprocesses = 12,40\n";

TEST_F(NvmlTest, telemetry_is_of_the_moment) {
  const auto nvml = counter(full_telemetry);
  const TelemetrySample sample = nvml->telemetry();
  EXPECT_EQ(sample.at, time_.now());
  EXPECT_EQ(sample.power_mw.value(), 251'000U);
  EXPECT_FALSE(sample.power_is_average);
  EXPECT_EQ(sample.power_limit_mw.value(), 400'000U);
  EXPECT_EQ(sample.temperature_c.value(), 61);
  EXPECT_EQ(sample.graphics_clock_mhz.value(), 1410U);
  EXPECT_EQ(sample.sm_clock_mhz.value(), 1395U);
  EXPECT_EQ(sample.memory_clock_mhz.value(), 1593U);
  EXPECT_EQ(sample.clock_events.value(), ClockEvents{0x44});
  EXPECT_EQ(to_string(sample.clock_events.value()), "software power cap, hardware thermal");
  EXPECT_THAT(sample.processes.value(), ElementsAre(ComputeProcess{12, 1U << 20U}, ComputeProcess{40, 1U << 20U}));
}

TEST_F(NvmlTest, an_older_library_tells_average_power_and_throttle_reasons) {
  const auto nvml = counter(full_telemetry, NVML_DOUBLE_OLD);
  const TelemetrySample sample = nvml->telemetry();
  EXPECT_EQ(sample.power_mw.value(), 240'000U);
  EXPECT_TRUE(sample.power_is_average);
  EXPECT_EQ(sample.clock_events.value(), ClockEvents{0x8});
  EXPECT_EQ(sample.processes.fault().kind, FaultKind::symbol_missing);
  EXPECT_EQ(sample.temperature_c.value(), 61);
}

TEST_F(NvmlTest, a_card_without_instant_power_tells_the_average) {
  const auto nvml = counter("energy = 1\ninstant = E3\npower = 240000\n");
  const TelemetrySample sample = nvml->telemetry();
  EXPECT_EQ(sample.power_mw.value(), 240'000U);
  EXPECT_TRUE(sample.power_is_average);
}

TEST_F(NvmlTest, telemetry_that_is_missing_has_a_reason_each) {
  const auto nvml = counter("energy = 1\ntemperature = E15\nlimit = E4\nprocesses = E999\n");
  const TelemetrySample sample = nvml->telemetry();
  EXPECT_EQ(sample.power_mw.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(sample.power_limit_mw.fault().kind, FaultKind::no_permission);
  EXPECT_EQ(sample.temperature_c.fault().kind, FaultKind::device_lost);
  EXPECT_EQ(sample.sm_clock_mhz.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(sample.clock_events.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(sample.processes.fault().kind, FaultKind::source_error);
}

TEST_F(NvmlTest, a_process_that_begins_beside_the_measurement_is_seen) {
  const auto nvml = counter("energy = 1\nprocesses = 12 12,40 40\n");
  const auto before = nvml->telemetry().processes.value();
  const auto beside = nvml->telemetry().processes.value();
  EXPECT_THAT(appeared(before, beside), ElementsAre(ComputeProcess{40, 1U << 20U}));
  EXPECT_THAT(appeared(beside, nvml->telemetry().processes.value()), IsEmpty());
}

TEST_F(NvmlTest, any_number_of_processes_is_listed) {
  // 16 do not hold 40; by then they are 100, which twice 40 do not hold either.
  const auto nvml = counter("energy = 1\nprocesses = many40 many100\n");
  const auto processes = nvml->telemetry().processes.value();
  ASSERT_EQ(processes.size(), 100U);
  EXPECT_EQ(processes.front().pid, 100U);
  EXPECT_EQ(processes.back().pid, 199U);
}

TEST_F(NvmlTest, no_process_is_an_empty_list) {
  EXPECT_THAT(counter("energy = 1\nprocesses = none\n")->telemetry().processes.value(), IsEmpty());
}

}  // namespace
}  // namespace joulegrid
