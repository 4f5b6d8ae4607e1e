#include "joulegrid/counter/amdsmi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/counter/doubles/tools.h"

namespace joulegrid {
namespace {

using ::testing::HasSubstr;

constexpr const char* one_card = "card\nuuid = 11ff7418-0000-1000-80aa-bbccddeeff00\nbus = 0000:03:00.0\n";

class AmdsmiTest : public ::testing::Test {
 protected:
  std::vector<FoundCounter> found(const std::string& profile, const char* library = AMDSMI_DOUBLE) {
    says_.emplace("JOULEGRID_AMDSMI_DOUBLE", profile);
    return find_amdsmi(library, time_);
  }

  std::unique_ptr<EnergyCounter> counter(const std::string& lines) {
    std::vector<FoundCounter> all = found(one_card + lines);
    EXPECT_EQ(all.size(), 1U);
    EXPECT_TRUE(all.front().counter) << all.front().counter.fault().reason;
    return std::move(all.front().counter.value());
  }

  Fault fault(const std::string& lines) {
    std::vector<FoundCounter> all = found(one_card + lines);
    EXPECT_EQ(all.size(), 1U);
    return all.front().counter.fault();
  }

  VirtualTime time_;
  std::optional<DoubleSays> says_;
};

Wide energy(EnergyCounter& counter) { return counter.read().value().energy.count(); }

FaultKind fault_of(EnergyCounter& counter) { return counter.read().fault().kind; }

TEST_F(AmdsmiTest, energy_is_the_count_times_the_resolution) {
  const auto amdsmi = counter("energy = 1 1000000 1000003\n");  // 15.259 µJ each
  EXPECT_EQ(energy(*amdsmi), Wide{15'259'000});
  EXPECT_EQ(energy(*amdsmi), Wide{15'259'045}) << "45.777 µJ more";
}

TEST_F(AmdsmiTest, the_largest_count_is_exact) {
  const auto amdsmi = counter("energy = 18446744073709551000 18446744073709551615\nresolution = 15.3\n");
  EXPECT_EQ(to_string(energy(*amdsmi)), "282235184327756139709");  // (2^64 - 1) · 15.3, cut
}

TEST_F(AmdsmiTest, describes_the_board) {
  const auto amdsmi = counter("energy = 1\nresolution = 15.3\n");
  const CounterDescription& is = amdsmi->describe();
  EXPECT_EQ(is.kind, CounterKind::amdsmi);
  EXPECT_EQ(is.name, "amdsmi:0000:03:00.0");
  EXPECT_EQ(is.scope, CounterScope::gpu_board);
  EXPECT_EQ(is.unit, "15.3 µJ");
  EXPECT_EQ(is.device.uuid, "11ff7418-0000-1000-80aa-bbccddeeff00");
  EXPECT_EQ(is.device.pci, (PciAddress{0, 3, 0, 0}));
}

TEST_F(AmdsmiTest, the_pci_address_is_taken_apart) {
  const std::vector<FoundCounter> all = found("card\nbus = 0001:c3:1f.7\nenergy = 1\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].description.device.pci, (PciAddress{1, 0xC3, 0x1F, 7}));
  EXPECT_EQ(all[0].description.name, "amdsmi:0001:c3:1f.7");
}

TEST_F(AmdsmiTest, a_card_without_the_counter_is_not_supported_and_not_zero) {
  const Fault says = fault("energy = E2\n");
  EXPECT_EQ(says.kind, FaultKind::not_supported);
  EXPECT_EQ(says.reason, "amdsmi_get_energy_count says 2 (AMDSMI_STATUS_NOT_SUPPORTED)");
  EXPECT_EQ(fault("energy = E10\n").kind, FaultKind::no_permission);
}

TEST_F(AmdsmiTest, a_device_that_is_lost_stays_lost) {
  const auto amdsmi = counter("energy = 1 E31 3\n");
  EXPECT_EQ(fault_of(*amdsmi), FaultKind::device_lost);
  EXPECT_EQ(fault_of(*amdsmi), FaultKind::device_lost);
}

TEST_F(AmdsmiTest, a_counter_that_began_anew_or_went_backwards_ends_for_good) {
  const auto reset = counter("energy = 1000000000 100 2000000000\n");
  time_.sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(fault_of(*reset), FaultKind::reset);
  EXPECT_EQ(fault_of(*reset), FaultKind::reset);
  // 15.258 kJ; in a millisecond 100 kW use 100 J.
  const auto backwards = counter("energy = 1000000000 999999999 2000000000\n");
  time_.sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(fault_of(*backwards), FaultKind::went_backwards);
  EXPECT_EQ(fault_of(*backwards), FaultKind::went_backwards);
}

TEST_F(AmdsmiTest, a_resolution_that_is_no_unit_is_malformed) {
  for (const char* resolution : {"0", "-15.3", "nan", "inf"}) {
    EXPECT_EQ(fault(std::string("energy = 1\nresolution = ") + resolution + "\n").kind, FaultKind::malformed) << resolution;
  }
  const auto changes = counter("energy = 1 2 3\nresolution = 15.3 15.4 15.3\n");
  EXPECT_EQ(fault_of(*changes), FaultKind::malformed);
  EXPECT_EQ(energy(*changes), Wide{45});
}

TEST_F(AmdsmiTest, a_part_of_a_board_is_refused) {
  const Fault says = fault("energy = 1\npartition = 3\n");
  EXPECT_EQ(says.kind, FaultKind::partitioned);
  EXPECT_THAT(says.reason, HasSubstr("partition 3"));
}

TEST_F(AmdsmiTest, says_why_amdsmi_does_not_start) {
  const std::vector<FoundCounter> all = found("init = E34\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].description.name, "amdsmi");
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::driver_not_loaded);
  EXPECT_THAT(all[0].counter.fault().reason,
              HasSubstr("amdsmi_init says 34 (AMDSMI_STATUS_OTHER); load the kernel module amdgpu"));
  EXPECT_EQ(found("").front().counter.fault().kind, FaultKind::not_present);
}

TEST_F(AmdsmiTest, a_library_without_the_counter_says_which_function_it_lacks) {
  const std::vector<FoundCounter> all = found(one_card, AMDSMI_DOUBLE_WITHOUT_ENERGY);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::symbol_missing);
  EXPECT_THAT(all[0].counter.fault().reason, HasSubstr("amdsmi_get_energy_count"));
}

TEST_F(AmdsmiTest, a_path_that_is_no_library_is_unavailable) {
  const TemporaryFolder folder;
  try {
    find_amdsmi(folder.write("text.so", "not a library").string(), time_);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST_F(AmdsmiTest, all_cards_are_found) {
  const std::vector<FoundCounter> all = found(
      "card\nbus = 0000:03:00.0\nenergy = 1\ncard\nbus = 0000:83:00.0\nenergy = E2\ncard\nbus = 0000:c3:00.0\nenergy = 3\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].counter);
  EXPECT_EQ(all[1].counter.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(all[2].description.name, "amdsmi:0000:c3:00.0");
}

TEST_F(AmdsmiTest, the_temperature_is_that_of_the_edge_or_else_of_the_hot_spot) {
  EXPECT_EQ(counter("energy = 1\nedge = 45\nhotspot = 51\n")->telemetry().temperature_c.value(), 45);
  EXPECT_EQ(counter("energy = 1\nhotspot = 51\n")->telemetry().temperature_c.value(), 51);
  const TelemetrySample sample = counter("energy = 1\n")->telemetry();
  EXPECT_EQ(sample.temperature_c.fault().kind, FaultKind::not_supported);
  EXPECT_EQ(sample.power_mw.fault().kind, FaultKind::not_supported);
}

}  // namespace
}  // namespace joulegrid
