#include "joulegrid/measure/protocol.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "joulegrid/base/quote.h"
#include "joulegrid/base/random.h"

namespace joulegrid {

namespace {

using std::chrono::nanoseconds;
using Phase = ProtocolProgress::Phase;

constexpr int least_ticks_of_window = 5;

std::string milliseconds(nanoseconds duration) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  std::string text = std::to_string(microseconds / 1000);
  if (microseconds % 1000 != 0 && microseconds < 10'000) text += "." + std::to_string(microseconds % 1000 / 100);
  return text + " ms";
}

double nanoseconds_of(nanoseconds duration) { return static_cast<double>(duration.count()); }

bool ends_the_run(const std::optional<Fault>& fault) { return fault && ends_a_run(*fault); }

class Protocol {
 public:
  Protocol(const MeasurePlan& plan, const std::vector<std::unique_ptr<Stage>>& stages, Instruments& instruments,
           const ProtocolOptions& options)
      : stages_(stages), instruments_(instruments), options_(options) {
    run_.plan = plan;
    run_.counter = instruments.counter();
    for (const auto& stage : stages) run_.stages.push_back({stage->name(), 0, {}, {}, {}});
    expected_.assign(stages.size(), plan.trial_time);
  }

  ProtocolRun run() {
    require_sense();
    if (!measure_tick_of_counter()) return std::move(run_);
    // Before the warm-up, which may take longer than a counter that wraps can be left unread.
    if (run_.counter.kind != CounterKind::none) instruments_.start_sampling(run_.plan.sampling_interval);
    if (warm_up_all()) do_trials();
    instruments_.stop_sampling();
    take_samples();
    return std::move(run_);
  }

 private:
  void require_sense() const {
    if (run_.plan.trials == 0) throw Error(ErrorCode::bad_input, "at least one trial is needed", "--trials");
    if (stages_.empty()) throw Error(ErrorCode::bad_input, "there is nothing to measure");
    std::set<std::string> names;
    for (const auto& stage : stages_) {
      if (stage->name().empty() || !names.insert(stage->name()).second) {
        throw Error(ErrorCode::bad_input, "every stage has a name of its own, not " + in_quotes(stage->name()));
      }
    }
    if (run_.plan.trial_time <= nanoseconds{}) throw Error(ErrorCode::bad_input, "a trial takes time", "--trial-seconds");
    if (run_.plan.idle_time <= nanoseconds{}) throw Error(ErrorCode::bad_input, "an idle window takes time", "--idle-seconds");
    check(run_.plan.settle_time >= nanoseconds{} && run_.plan.warm_up_time >= nanoseconds{}, "times are not negative");
  }

  /// Notes why the run is over before its end.
  bool end_early(const std::optional<Fault>& why = std::nullopt) {
    run_.ended_early = why ? *why : Fault{FaultKind::interrupted, "interrupted"};
    return false;
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->requested(); }

  /// False where the run is over.
  bool measure_tick_of_counter() {
    constexpr nanoseconds limit = std::chrono::seconds(3);
    show(Phase::tick, {});
    if (run_.counter.kind == CounterKind::none) {
      const Measured<Reading> nothing = instruments_.read();
      check(!nothing, "the counter `none` has no readings");
      run_.tick = nothing.fault();
      return true;
    }
    TickOptions how;
    how.limit = limit;
    run_.tick = measure_tick(
        [&]() -> Measured<Reading> {
          if (stopped()) return Fault{FaultKind::interrupted, "interrupted"};
          return instruments_.read();
        },
        [&](nanoseconds pause) { instruments_.sleep_for(pause); }, how);
    if (!run_.tick) return ends_the_run(run_.tick.fault()) ? end_early(run_.tick.fault()) : true;
    const nanoseconds tick = run_.tick.value().median();
    const auto require = [&](nanoseconds window, const char* option) {
      constexpr double jitter = 0.95;  // ticks of the nominal length are measured a little longer or shorter
      if (nanoseconds_of(window) >= jitter * least_ticks_of_window * nanoseconds_of(tick)) return;
      throw Error(ErrorCode::bad_input,
                  "a window of " + milliseconds(window) + " is too short for this counter, which changes every " +
                      milliseconds(tick) + "; at least " + milliseconds(least_ticks_of_window * tick) + " are needed",
                  option);
    };
    require(run_.plan.trial_time, "--trial-seconds");
    require(run_.plan.idle_time, "--idle-seconds");
    return true;
  }

  /// False where the run is over.
  bool warm_up_all() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!warm_up(i)) return false;
    }
    return true;
  }

  /// Repeats the stage until it is warm and a batch of it tells how long one repetition takes. False where the run is over.
  bool warm_up(std::size_t index) {
    StageTrials& stage = run_.stages[index];
    const MeasurePlan& plan = run_.plan;
    const nanoseconds telling =
        std::min(plan.trial_time, std::max(plan.trial_time / 10, nanoseconds(std::chrono::milliseconds(20))));
    constexpr std::uint64_t most_repetitions = std::uint64_t{1} << 40U;  // a nanosecond each is 18 minutes
    std::uint64_t repetitions = 1;
    std::uint64_t done = 0;
    nanoseconds total{};
    for (;;) {
      if (stopped()) return end_early();
      show(Phase::warm_up, stage.name);
      const Aggregate batch = instruments_.run(*stages_[index], repetitions);
      if (done == 0) stage.first_details = batch.details;
      if (ends_the_run(batch.fault)) return end_early(batch.fault);
      if (batch.fault) {
        stage.fault = batch.fault;
        return true;
      }
      const nanoseconds took = std::max(batch.duration(), nanoseconds(1));
      total += took;
      done += repetitions;
      const double each = static_cast<double>(took.count()) / static_cast<double>(repetitions);
      if (took >= telling && total >= plan.warm_up_time && done >= plan.warm_up_repetitions) {
        // Two in a hundred more than it takes at this speed, so that trials are rarely shorter than asked for.
        constexpr double margin = 1.02;
        const double wanted = margin * static_cast<double>(plan.trial_time.count()) / each;
        stage.repetitions = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted)));
        expected_[index] = nanoseconds(static_cast<std::int64_t>(each * static_cast<double>(stage.repetitions)));
        ++warm_;
        return true;
      }
      if (took < telling && repetitions >= most_repetitions) {
        stage.fault = Fault{FaultKind::work_failed, std::to_string(repetitions) + " repetitions took " + milliseconds(took) +
                                                        ", which is too little to be work"};
        return true;
      }
      // At least as long as it takes to tell, not much longer than what warming up still needs.
      constexpr std::uint64_t most_growth = 16;
      const auto next =
          static_cast<double>(std::max(telling, std::min(plan.warm_up_time - total, plan.trial_time)).count()) / each;
      const std::uint64_t most = std::min(repetitions * most_growth, most_repetitions);
      repetitions =
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min(std::ceil(next), static_cast<double>(most))));
    }
  }

  void do_trials() {
    SplitMix64 random(run_.plan.seed);
    std::uint64_t position = 0;
    for (std::uint64_t number = 1; number <= run_.plan.trials; ++number) {
      std::vector<std::size_t> order(stages_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      for (const std::size_t index : order) {
        if (run_.stages[index].fault) continue;
        std::optional<Trial> trial = do_trial(index, number, ++position);
        take_samples();
        if (!trial) return;
        run_.stages[index].trials.push_back(std::move(*trial));
        if (options_.after_trial) options_.after_trial(run_);
      }
    }
  }

  /// Nothing where the run ended within it.
  std::optional<Trial> do_trial(std::size_t index, std::uint64_t number, std::uint64_t position) {
    StageTrials& stage = run_.stages[index];
    position_ = position;
    Trial trial;
    trial.number = number;
    trial.position = position;
    trial.repetitions = stage.repetitions;
    const bool windows = run_.tick.has_value();
    if (!windows) trial.edges.fill(run_.tick.fault());

    show(Phase::idle, stage.name);
    if (windows) {
      if (!wait(run_.plan.settle_time)) return over();
      trial.edges[0] = edge();
      if (trial.edges[0] && !wait(run_.plan.idle_time)) return over();
      trial.edges[1] = edge();
    }
    show(Phase::work, stage.name);
    if (stopped()) return over();
    trial.work = instruments_.run(*stages_[index], stage.repetitions);
    if (ends_the_run(trial.work.fault)) return over(trial.work.fault);
    show(Phase::idle, stage.name);
    if (windows) {
      if (!wait(run_.plan.settle_time)) return over();
      trial.edges[2] = edge();
      if (trial.edges[2] && !wait(run_.plan.idle_time)) return over();
      trial.edges[3] = edge();
    }
    for (const Measured<Reading>& reading : trial.edges) {
      if (!reading && ends_the_run(reading.fault())) return over(reading.fault());
    }
    return trial;
  }

  std::optional<Trial> over(const std::optional<Fault>& why = std::nullopt) {
    end_early(why);
    return std::nullopt;
  }

  /// The reading at the counter's next change.
  Measured<Reading> edge() {
    constexpr nanoseconds least_wait = std::chrono::seconds(1);
    constexpr nanoseconds most_wait = std::chrono::hours(1);
    const Tick& tick = run_.tick.value();
    const nanoseconds pause =
        std::clamp<nanoseconds>(tick.median() / 64, std::chrono::microseconds(50), std::chrono::milliseconds(1));
    const nanoseconds limit =
        std::clamp<nanoseconds>(20 * std::min<nanoseconds>(tick.longest(), most_wait), least_wait, most_wait);
    Measured<Reading> first = instruments_.read();
    if (!first) return first;
    for (;;) {
      if (stopped()) return Fault{FaultKind::interrupted, "interrupted"};
      instruments_.sleep_for(pause);
      Measured<Reading> next = instruments_.read();
      if (!next || next.value().energy != first.value().energy) return next;
      if (next.value().at - first.value().at > limit) {
        return Fault{FaultKind::frozen, "the counter has not changed for " + milliseconds(next.value().at - first.value().at)};
      }
    }
  }

  /// False where somebody stopped the run meanwhile.
  bool wait(nanoseconds duration) {
    constexpr nanoseconds slice = std::chrono::milliseconds(100);
    for (nanoseconds left = duration; left > nanoseconds{}; left -= slice) {
      if (stopped()) return false;
      instruments_.sleep_for(std::min(slice, left));
    }
    return true;
  }

  void take_samples() {
    std::vector<TelemetrySample> more = instruments_.take_samples();
    std::move(more.begin(), more.end(), std::back_inserter(run_.samples));
  }

  void show(Phase phase, const std::string& stage) const {
    if (!options_.progress) return;
    ProtocolProgress progress;
    progress.phase = phase;
    progress.stage = stage;
    progress.position = position_;
    progress.trials = run_.plan.trials * stages_.size();
    const MeasurePlan& plan = run_.plan;
    // In floating point: a recording may tell any durations.
    const double around = run_.tick ? 2 * nanoseconds_of(plan.idle_time + plan.settle_time) : 0;
    double round = 0;
    for (const nanoseconds work : expected_) round += around + nanoseconds_of(work);
    const std::uint64_t finished = position_ == 0 ? 0 : position_ - 1;
    double left = round * static_cast<double>(progress.trials - std::min(progress.trials, finished)) /
                  static_cast<double>(stages_.size());
    left += nanoseconds_of(plan.warm_up_time) * static_cast<double>(stages_.size() - warm_);
    if (position_ != 0 && phase == Phase::work) left -= around / 2;
    constexpr double most = 0x1p62;
    progress.left = nanoseconds(static_cast<std::int64_t>(std::min(left, most)));
    options_.progress(progress);
  }

  const std::vector<std::unique_ptr<Stage>>& stages_;
  Instruments& instruments_;
  const ProtocolOptions& options_;
  ProtocolRun run_;
  std::vector<nanoseconds> expected_;  ///< work of a trial, by stage
  std::size_t warm_ = 0;               ///< stages that are
  std::uint64_t position_ = 0;
};

}  // namespace

ProtocolRun run_protocol(const MeasurePlan& plan, const std::vector<std::unique_ptr<Stage>>& stages, Instruments& instruments,
                         const ProtocolOptions& options) {
  return Protocol(plan, stages, instruments, options).run();
}

}  // namespace joulegrid
