#include "joulegrid/counter/continuity.h"

namespace joulegrid {

namespace {

constexpr std::int64_t most_watts = 100'000;

}  // namespace

Measured<Reading> Continuity::accept(const Measured<Reading>& reading) {
  if (broken_) return *broken_;
  if (!reading) {
    if (reading.fault().kind == FaultKind::device_lost || reading.fault().kind == FaultKind::reset) broken_ = reading.fault();
    return reading;
  }
  const Reading& now = reading.value();
  if (last_ && now.energy < last_->energy) {
    const std::string from_to =
        "from " + to_string(last_->energy.count()) + " to " + to_string(now.energy.count()) + " µJ between two readings";
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now.at - last_->at);
    const Wide most = checked_mul(static_cast<Wide>(elapsed.count()), most_watts);
    broken_ =
        now.energy.count() <= most
            ? Fault{FaultKind::reset, "the counter began anew, " + from_to + ": the driver was reloaded, or the device reset"}
            : Fault{FaultKind::went_backwards, "the counter went backwards, " + from_to};
    return *broken_;
  }
  if (last_) {
    constexpr Wide grace_us = 1'000'000;  // what a slow counter may show late
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now.at - last_->at);
    const Wide most = checked_mul(checked_add(static_cast<Wide>(elapsed.count()), grace_us), most_watts);
    if (now.energy.count() - last_->energy.count() > most) {
      broken_ = Fault{FaultKind::malformed, "the counter jumped from " + to_string(last_->energy.count()) + " to " +
                                                to_string(now.energy.count()) + " µJ between two readings"};
      return *broken_;
    }
  }
  last_ = now;
  return reading;
}

}  // namespace joulegrid
