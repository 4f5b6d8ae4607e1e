#include "joulegrid/counter/fault.h"

#include <algorithm>
#include <array>

#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

constexpr std::array<std::pair<FaultKind, const char*>, 24> names{{
    {FaultKind::not_asked, "not_asked"},
    {FaultKind::library_missing, "library_missing"},
    {FaultKind::symbol_missing, "symbol_missing"},
    {FaultKind::driver_not_loaded, "driver_not_loaded"},
    {FaultKind::version_mismatch, "version_mismatch"},
    {FaultKind::not_supported, "not_supported"},
    {FaultKind::no_permission, "no_permission"},
    {FaultKind::not_present, "not_present"},
    {FaultKind::partitioned, "partitioned"},
    {FaultKind::zone_disabled, "zone_disabled"},
    {FaultKind::device_lost, "device_lost"},
    {FaultKind::reset, "reset"},
    {FaultKind::went_backwards, "went_backwards"},
    {FaultKind::frozen, "frozen"},
    {FaultKind::zero_delta, "zero_delta"},
    {FaultKind::too_few_changes, "too_few_changes"},
    {FaultKind::poll_gap, "poll_gap"},
    {FaultKind::malformed, "malformed"},
    {FaultKind::source_error, "source_error"},
    {FaultKind::recording_ended, "recording_ended"},
    {FaultKind::recording_truncated, "recording_truncated"},
    {FaultKind::work_failed, "work_failed"},
    {FaultKind::interrupted, "interrupted"},
    {FaultKind::not_enough, "not_enough"},
}};

}  // namespace

const char* fault_name(FaultKind kind) {
  const auto* const found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == kind; });
  check(found != names.end(), "every fault has a name");
  return found->second;
}

FaultKind parse_fault_name(const std::string& name, const std::string& where) {
  const auto* const found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
  if (found == names.end()) throw Error(ErrorCode::bad_input, "no fault is called " + in_quotes(name), where);
  return found->first;
}

}  // namespace joulegrid
