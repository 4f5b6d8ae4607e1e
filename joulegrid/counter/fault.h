#pragma once

#include <string>
#include <utility>
#include <variant>

#include "joulegrid/base/error.h"

namespace joulegrid {

/// Why a measurement is missing. `fault_name` gives the word that documents use.
enum class FaultKind {
  not_asked,            ///< nobody asked for it: the counter `none`, a tick that was not measured
  library_missing,      ///< the library is not installed or does not load
  symbol_missing,       ///< the library lacks a function that this needs
  driver_not_loaded,    ///< the library is there, its kernel driver is not
  version_mismatch,     ///< library and driver are of different versions
  not_supported,        ///< this device has no such counter
  no_permission,        ///< the counter is there, this user may not read it
  not_present,          ///< this machine has no such counter or device
  partitioned,          ///< the device is divided (MIG); the counter is that of the whole board
  zone_disabled,        ///< the zone is switched off and its counter stands still
  device_lost,          ///< the device has gone since the counter was opened
  reset,                ///< the counter began anew, as after a reload of the driver
  went_backwards,       ///< the counter shows less than before
  frozen,               ///< the counter does not change
  zero_delta,           ///< no energy between two readings that are many ticks apart
  too_few_changes,      ///< not enough changes were seen to know the tick
  poll_gap,             ///< so long between two readings that the counter may have wrapped unnoticed
  malformed,            ///< what the counter gave is not a possible value
  source_error,         ///< the library or the system failed for a reason of its own
  recording_ended,      ///< the recording has no further reading
  recording_truncated,  ///< the recording breaks off; it has no further reading
  work_failed,          ///< what was measured did not do its work
  interrupted,          ///< somebody ended the measurement before
  not_enough,           ///< too few values to compute it from
};

/// The word for it in documents: "device_lost".
const char* fault_name(FaultKind kind);

/// The fault of that name; throws Error(bad_input, where) where there is none.
FaultKind parse_fault_name(const std::string& name, const std::string& where);

/// The reason why a measurement is missing: what kind, and one line for people that says what happened and, where somebody
/// can do something about it, what.
struct Fault {
  FaultKind kind = FaultKind::not_asked;
  std::string reason;

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// A measured value, or the reason why there is none. Never a zero in place of either.
template <typename T>
class Measured {
 public:
  /// Not measured yet.
  Measured() : content_(Fault{FaultKind::not_asked, "not measured"}) {}
  // Implicit, so that functions return either.
  Measured(T value) : content_(std::move(value)) {}
  Measured(Fault fault) : content_(std::move(fault)) {}

  bool has_value() const { return std::holds_alternative<T>(content_); }
  explicit operator bool() const { return has_value(); }

  /// Only where has_value().
  const T& value() const {
    check(has_value(), "a missing measurement has no value");
    return std::get<T>(content_);
  }
  T& value() {
    check(has_value(), "a missing measurement has no value");
    return std::get<T>(content_);
  }

  /// Only where !has_value().
  const Fault& fault() const {
    check(!has_value(), "a measured value has no fault");
    return std::get<Fault>(content_);
  }

  friend bool operator==(const Measured&, const Measured&) = default;

 private:
  std::variant<T, Fault> content_;
};

}  // namespace joulegrid
