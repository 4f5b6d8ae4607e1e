#include "joulegrid/counter/perf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "joulegrid/counter/doubles/tools.h"

namespace joulegrid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What was opened: type, config, CPU.
using Opened = std::tuple<std::uint32_t, std::uint64_t, int>;

class FakePerfEvents final : public PerfEvents {
 public:
  int open(std::uint32_t type, std::uint64_t config, int cpu) override {
    if (refused.contains({config, cpu})) return -refused.at({config, cpu});
    opened.emplace_back(type, config, cpu);
    const int descriptor = 100 + static_cast<int>(opened.size());
    is_open.insert(descriptor);
    of[descriptor] = {config, cpu};
    return descriptor;
  }

  std::optional<std::uint64_t> read(int descriptor) override {
    EXPECT_TRUE(is_open.contains(descriptor));
    if (gone) return std::nullopt;
    return counts[of.at(descriptor)];
  }

  void close(int descriptor) override { EXPECT_EQ(is_open.erase(descriptor), 1U); }

  std::map<std::pair<std::uint64_t, int>, std::uint64_t> counts;  ///< by config and CPU
  std::map<std::pair<std::uint64_t, int>, int> refused;           ///< errno of those that do not open
  bool gone = false;
  std::vector<Opened> opened;
  std::map<int, std::pair<std::uint64_t, int>> of;
  std::set<int> is_open;
};

class PerfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sources_.write("power/type", "9\n");
    sources_.write("power/cpumask", "0,28\n");
    event("energy-pkg", "event=0x02\n");
  }

  void event(const std::string& name, const std::string& config, const std::string& unit = "Joules\n") const {
    sources_.write("power/events/" + name, config);
    sources_.write("power/events/" + name + ".scale", "2.3283064365386962890625e-10\n");  // 2^-32
    sources_.write("power/events/" + name + ".unit", unit);
  }

  std::vector<FoundCounter> found() { return find_perf(sources_.path(), events_, time_); }

  std::unique_ptr<EnergyCounter> counter(const std::string& name = "perf:package") {
    for (FoundCounter& one : found()) {
      if (one.description.name != name) continue;
      EXPECT_TRUE(one.counter) << one.counter.fault().reason;
      return std::move(one.counter.value());
    }
    ADD_FAILURE() << "no " << name;
    return nullptr;
  }

  Fault fault() { return found().front().counter.fault(); }

  VirtualTime time_;
  TemporaryFolder sources_;
  std::shared_ptr<FakePerfEvents> events_ = std::make_shared<FakePerfEvents>();
};

constexpr std::uint64_t joule = std::uint64_t{1} << 32U;  // counts of 2^-32 J

Wide energy(EnergyCounter& counter) { return counter.read().value().energy.count(); }

TEST_F(PerfTest, adds_the_packages) {
  const auto perf = counter();
  EXPECT_THAT(events_->opened, ElementsAre(Opened(9, 2, 0), Opened(9, 2, 28)));
  events_->counts[{2, 0}] = 3 * joule;
  events_->counts[{2, 28}] = 5 * joule + joule / 4;
  EXPECT_EQ(energy(*perf), Wide{8'250'000});
}

TEST_F(PerfTest, a_count_is_cut_to_microjoules) {
  sources_.write("power/cpumask", "0\n");
  const auto perf = counter();
  events_->counts[{2, 0}] = 4294;  // 10^6 · 4294 / 2^32 = 0.99978 µJ
  EXPECT_EQ(energy(*perf), Wide{0});
  events_->counts[{2, 0}] = 4295;
  EXPECT_EQ(energy(*perf), Wide{1});
}

TEST_F(PerfTest, the_largest_count_is_exact) {
  sources_.write("power/cpumask", "0\n");
  events_->counts[{2, 0}] = ~std::uint64_t{0};
  EXPECT_EQ(energy(*counter()), Wide{4'294'967'295'999'999});
}

TEST_F(PerfTest, describes_what_it_counts) {
  const auto perf = counter();
  const CounterDescription& is = perf->describe();
  EXPECT_EQ(is.kind, CounterKind::perf);
  EXPECT_EQ(is.scope, CounterScope::cpu_package);
  EXPECT_EQ(is.unit, "2.3283064365386962890625e-10 J");
  EXPECT_THAT(is.includes, ElementsAre("energy-pkg on 2 packages or dies"));
  EXPECT_EQ(is.longest_gap, std::nullopt) << "the kernel polls";
}

TEST_F(PerfTest, memory_and_platform_are_counters_of_their_own) {
  event("energy-ram", "event=0x03\n");
  event("energy-psys", "event=0x05\n");
  sources_.write("power/cpumask", "0\n");
  const std::vector<FoundCounter> all = found();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].description.name, "perf:package+dram");
  EXPECT_EQ(all[1].description.scope, CounterScope::package_and_dram);
  EXPECT_EQ(all[2].description.name, "perf:psys");
  EXPECT_EQ(all[2].description.scope, CounterScope::platform);
  events_->counts = {{{2, 0}, joule}, {{3, 0}, joule / 2}, {{5, 0}, 4 * joule}};
  EXPECT_EQ(energy(*all[0].counter.value()), Wide{1'000'000});
  EXPECT_EQ(energy(*all[1].counter.value()), Wide{1'500'000});
  EXPECT_EQ(energy(*all[2].counter.value()), Wide{4'000'000});
}

TEST_F(PerfTest, a_machine_without_the_unit_has_no_counter) {
  const TemporaryFolder empty;
  const std::vector<FoundCounter> all = find_perf(empty.path(), events_, time_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].description.name, "perf");
  EXPECT_EQ(all[0].counter.fault().kind, FaultKind::not_present);
}

TEST_F(PerfTest, a_refusal_names_the_paranoid_level) {
  for (const int error : {EACCES, EPERM}) {
    events_->refused[{2, 28}] = error;
    EXPECT_EQ(fault().kind, FaultKind::no_permission);
    EXPECT_THAT(fault().reason, HasSubstr("perf_event_paranoid"));
    EXPECT_THAT(fault().reason, HasSubstr("CAP_PERFMON"));
  }
  EXPECT_THAT(events_->is_open, IsEmpty()) << "what was open already was closed";
}

TEST_F(PerfTest, an_event_that_the_processor_lacks_is_not_supported) {
  events_->refused[{2, 0}] = ENODEV;
  EXPECT_EQ(fault().kind, FaultKind::not_supported);
  events_->refused[{2, 0}] = EMFILE;
  EXPECT_EQ(fault().kind, FaultKind::source_error);
}

TEST_F(PerfTest, closes_what_it_opened) {
  {
    const auto perf = counter();
    EXPECT_EQ(events_->is_open.size(), 2U);
  }
  EXPECT_THAT(events_->is_open, IsEmpty());
}

TEST_F(PerfTest, a_cpu_that_goes_ends_the_counter_for_good) {
  const auto perf = counter();
  events_->gone = true;
  EXPECT_EQ(perf->read().fault().kind, FaultKind::device_lost);
  events_->gone = false;
  EXPECT_EQ(perf->read().fault().kind, FaultKind::device_lost);
}

TEST_F(PerfTest, a_count_that_shrinks_ends_the_counter_for_good) {
  const auto perf = counter();
  events_->counts[{2, 0}] = 1000 * joule;
  EXPECT_EQ(energy(*perf), Wide{1'000'000'000});
  events_->counts[{2, 0}] = 999 * joule;
  EXPECT_EQ(perf->read().fault().kind, FaultKind::went_backwards);
  events_->counts[{2, 0}] = 1001 * joule;
  EXPECT_EQ(perf->read().fault().kind, FaultKind::went_backwards);
}

TEST_F(PerfTest, events_and_cpus_are_read_as_the_kernel_writes_them) {
  event("energy-pkg", "event=0x02,umask=0x01\n");
  sources_.write("power/cpumask", "0-2,7\n");
  counter();
  EXPECT_THAT(events_->opened, ElementsAre(Opened(9, 0x102, 0), Opened(9, 0x102, 1), Opened(9, 0x102, 2), Opened(9, 0x102, 7)));
}

TEST_F(PerfTest, files_that_make_no_sense_are_malformed) {
  for (const char* config : {"", "event=\n", "event=0x100\n", "config=2\n", "event=0xzz\n", "event=2,inv\n"}) {
    event("energy-pkg", config);
    EXPECT_EQ(fault().kind, FaultKind::malformed) << config;
  }
  event("energy-pkg", "event=0x02\n", "Watts\n");
  EXPECT_THAT(fault().reason, HasSubstr("'Watts'"));
  event("energy-pkg", "event=0x02\n");
  for (const char* scale : {"", "0\n", "-1\n", "1e\n", "1e99\n", "nan\n", "1.2.3\n"}) {
    sources_.write("power/events/energy-pkg.scale", scale);
    EXPECT_EQ(fault().kind, FaultKind::malformed) << scale;
  }
  event("energy-pkg", "event=0x02\n");
  for (const char* mask : {"", "\n", "x\n", "3-1\n", "-1\n", "0-99999999\n", "0,\x7f\n"}) {
    sources_.write("power/cpumask", mask);
    EXPECT_EQ(fault().kind, FaultKind::malformed) << mask;
  }
  sources_.write("power/cpumask", "0\n");
  sources_.write("power/type", "4294967296\n");
  EXPECT_EQ(fault().kind, FaultKind::malformed);
}

TEST_F(PerfTest, files_that_are_missing_are_not_present) {
  for (const char* file : {"type", "cpumask", "events/energy-pkg", "events/energy-pkg.scale", "events/energy-pkg.unit"}) {
    SetUp();
    std::filesystem::remove(sources_.path() / "power" / file);
    EXPECT_EQ(fault().kind, FaultKind::not_present) << file;
  }
}

}  // namespace
}  // namespace joulegrid
