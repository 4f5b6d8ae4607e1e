#include "joulegrid/counter/energy_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulegrid/counter/none.h"

namespace joulegrid {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PciAddress, is_read_however_it_is_written) {
  const PciAddress address{0, 0x65, 0, 0};
  for (const char* text : {"0000:65:00.0", "00000000:65:00.0", "65:00.0", "0:65:0.0"}) {
    EXPECT_EQ(parse_pci_address(text), address) << text;
  }
  EXPECT_EQ(parse_pci_address("00000001:AF:1f.7"), (PciAddress{1, 0xAF, 0x1F, 7}));
  EXPECT_EQ(parse_pci_address("ffffffff:ff:00.0"), (PciAddress{0xFFFF'FFFF, 0xFF, 0, 0}));
  EXPECT_EQ(to_string(PciAddress{1, 0xAF, 0x1F, 7}), "0001:af:1f.7");
}

TEST(PciAddress, is_nothing_else) {
  for (const char* text : {"", "0", "65:00", "65.0", "0000:65:00.8", "0000:65:20.0", "0000:165:00.0", "0000:65:00.0.0",
                           "0:0:65:00.0", "000000000:65:00.0", ":65:00.0", "0000::00.0", "0000:65:.0", "0000:65:00.", "GPU-65",
                           " 65:00.0", "65:00.0 ", "-1:00.0", "0000:g5:00.0"}) {
    EXPECT_EQ(parse_pci_address(text), std::nullopt) << text;
  }
}

TEST(NamesDevice, by_uuid_its_beginning_or_pci_address) {
  const DeviceIdentity device{"GPU-1111aaaa-22bb", PciAddress{0, 0x65, 0, 0}, "Card"};
  for (const char* name : {"GPU-1111aaaa-22bb", "GPU-1111", "gpu-1111AAAA", "0000:65:00.0", "65:00.0"}) {
    EXPECT_TRUE(names_device(name, device)) << name;
  }
  for (const char* name :
       {"", "GPU-", "GPU-111", "GPU-1112", "GPU-1111aaaa-22bbc", "1111aaaa", "0", "Card", "0000:66:00.0", "MIG-1111aaaa"}) {
    EXPECT_FALSE(names_device(name, device)) << name;
  }
}

TEST(NamesDevice, an_unknown_device_has_no_name) {
  EXPECT_FALSE(names_device("GPU-1111aaaa", {}));
  EXPECT_FALSE(names_device("0000:00:00.0", {})) << "no address is not address zero";
  EXPECT_FALSE(names_device("", {}));
}

Reading reading(std::uint64_t microjoules, int at_ms) {
  return {Microjoules(microjoules), TimeSource::Instant(milliseconds(at_ms)), {}};
}

TEST(EnergyBetween, is_the_difference) {
  EXPECT_EQ(energy_between(reading(1500, 0), reading(4000, 10)).value(), Microjoules(2500));
  EXPECT_EQ(energy_between(reading(1500, 5), reading(1500, 5)).value(), Microjoules(0));
}

TEST(EnergyBetween, nothing_over_eight_ticks_is_a_fault) {
  const milliseconds tick(10);
  EXPECT_EQ(energy_between(reading(5, 0), reading(5, 79), tick).value(), Microjoules(0));
  EXPECT_EQ(energy_between(reading(5, 0), reading(5, 80), tick).fault(),
            (Fault{FaultKind::zero_delta, "the counter stood still for 80 ms"}));
  EXPECT_EQ(energy_between(reading(5, 0), reading(6, 80), tick).value(), Microjoules(1));
  EXPECT_EQ(energy_between(reading(5, 0), reading(5, 80)).value(), Microjoules(0)) << "where no tick is known";
}

TEST(EnergyBetween, less_than_before_is_a_fault) {
  EXPECT_EQ(energy_between(reading(5, 0), reading(4, 1)).fault().kind, FaultKind::went_backwards);
}

TEST(EnergyBetween, a_fault_of_either_reading_is_passed_on) {
  const Measured<Reading> lost = Fault{FaultKind::device_lost, "gone"};
  EXPECT_EQ(energy_between(lost, reading(4, 1)).fault().reason, "gone");
  EXPECT_EQ(energy_between(reading(4, 1), lost).fault().reason, "gone");
}

TEST(EnergyBetween, readings_in_the_wrong_order_are_a_bug) {
  EXPECT_THROW(energy_between(reading(1, 2), reading(2, 1)), std::logic_error);
}

TEST(ClockEvents, have_words) {
  EXPECT_EQ(to_string(ClockEvents{}), "none");
  EXPECT_EQ(to_string(ClockEvents{0x1}), "idle");
  EXPECT_EQ(to_string(ClockEvents{0xEF}),
            "idle, application clocks, software power cap, hardware slowdown, software thermal, "
            "hardware thermal, power brake");
  EXPECT_EQ(to_string(ClockEvents{0x8000'0000'0000'0104}), "software power cap, 0x8000000000000100");
}

TEST(ClockEvents, tell_power_from_heat) {
  for (const std::uint64_t bit : {0x4U, 0x80U}) EXPECT_TRUE(ClockEvents{bit}.power_capped()) << bit;
  for (const std::uint64_t bit : {0x20U, 0x40U}) EXPECT_TRUE(ClockEvents{bit}.thermal()) << bit;
  EXPECT_TRUE(ClockEvents{0x8}.slowed_down());
  EXPECT_FALSE(ClockEvents{0x1 | 0x2 | 0x20 | 0x40 | 0x8}.power_capped());
  EXPECT_FALSE(ClockEvents{0x1 | 0x2 | 0x4 | 0x80 | 0x8}.thermal());
}

TEST(Appeared, lists_who_was_not_there_before) {
  EXPECT_THAT(appeared({{1, 0}, {2, 0}}, {{2, 7}, {3, 8}, {4, 9}}), ElementsAre(ComputeProcess{3, 8}, ComputeProcess{4, 9}));
  EXPECT_THAT(appeared({{1, 0}}, {}), IsEmpty());
  EXPECT_THAT(appeared({}, {{1, 5}}), ElementsAre(ComputeProcess{1, 5}));
}

TEST(Names, of_scopes_and_faults_are_read_back) {
  for (const CounterScope scope : {CounterScope::gpu_board, CounterScope::cpu_package, CounterScope::package_and_dram,
                                   CounterScope::platform, CounterScope::nothing}) {
    EXPECT_EQ(parse_scope_name(scope_name(scope), "here"), scope);
  }
  for (int i = 0; i <= static_cast<int>(FaultKind::recording_truncated); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    EXPECT_EQ(parse_fault_name(fault_name(kind), "here"), kind);
  }
  EXPECT_THROW(parse_scope_name("board", "here"), Error);
  EXPECT_THROW(parse_fault_name("lost", "here"), Error);
}

TEST(Measured, a_missing_value_is_not_to_be_had) {
  const Measured<int> missing = Fault{FaultKind::frozen, "still"};
  EXPECT_FALSE(missing);
  EXPECT_THROW(missing.value(), std::logic_error);
  const Measured<int> there = 7;
  EXPECT_EQ(there.value(), 7);
  EXPECT_THROW(there.fault(), std::logic_error);
}

TEST(NoneCounter, has_no_energy_and_says_that_nobody_asked) {
  NoneCounter none;
  EXPECT_EQ(none.read().fault().kind, FaultKind::not_asked);
  EXPECT_EQ(none.describe().scope, CounterScope::nothing);
  EXPECT_EQ(none.telemetry().power_mw.fault().kind, FaultKind::not_supported);
  EXPECT_THAT(none.telemetry().power_mw.fault().reason, HasSubstr("none"));
}

}  // namespace
}  // namespace joulegrid
