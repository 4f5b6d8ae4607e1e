#include "joulegrid/workload/program_stage.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "joulegrid/base/json.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

constexpr std::size_t kept_of_first_run = 65'536;
constexpr std::size_t kept_of_errors = 4096;

double seconds_of(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

const char* end_name(RunResult::End end) {
  switch (end) {
    case RunResult::End::exited: return "exited";
    case RunResult::End::signalled: return "signalled";
    case RunResult::End::timed_out: return "timed_out";
    case RunResult::End::interrupted: return "interrupted";
    case RunResult::End::not_started: return "not_started";
  }
  check(false, "every end has a name");
  return "";
}

/// The last line of what a program wrote that says something.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\n\r \t");
  if (end == std::string::npos) return {};
  const std::size_t newline = text.find_last_of('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

class ProgramStage final : public Stage {
 public:
  ProgramStage(std::string name, ProgramCall call, const ProgramStageOptions& options)
      : name_(std::move(name)), call_(std::move(call)), options_(options) {}

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { pending_ += repetitions; }

  std::optional<Fault> synchronise() override {
    for (; pending_ > 0; --pending_) {
      RunResult result = run_program(call_, run_options());
      if (result.end == RunResult::End::interrupted) {
        pending_ = 0;
        return Fault{FaultKind::interrupted, "interrupted"};
      }
      ++runs_;
      note(result);
      if (failed(result)) {
        pending_ = 0;
        const std::string said = last_line(result.errors);
        Fault fault{FaultKind::work_failed, name_ + ", run " + std::to_string(runs_) + ": " + result.reason +
                                                (said.empty() ? "" : ", saying " + in_quotes(said, 200))};
        failed_run_ = std::move(result);
        return fault;
      }
    }
    return std::nullopt;
  }

  std::string details() override {
    Json json;
    Json& walls = json["wall_seconds"] = Json::array();
    for (const double wall : wall_seconds_) walls.push_back(wall);
    json["user_seconds"] = seconds_of(user_);
    json["system_seconds"] = seconds_of(system_);
    json["max_resident_bytes"] = max_resident_bytes_ ? Json(*max_resident_bytes_) : Json(nullptr);
    json["exit_statuses"] = Json::array();
    for (const int status : exit_statuses_) json["exit_statuses"].push_back(status);
    json["failed_run"] = nullptr;
    if (failed_run_) {
      Json& failure = json["failed_run"] = Json::object();
      failure["end"] = end_name(failed_run_->end);
      failure["exit_status"] = failed_run_->exit_status >= 0 ? Json(failed_run_->exit_status) : Json(nullptr);
      failure["signal"] = failed_run_->signal != 0 ? Json(failed_run_->signal) : Json(nullptr);
      failure["reason"] = failed_run_->reason;
      failure["errors"] = failed_run_->errors;
    }
    if (first_run_) {
      const auto stream = [](const std::string& text, std::uint64_t bytes) {
        Json kept;
        kept["text"] = text;
        kept["bytes"] = bytes;
        return kept;
      };
      json["output"] = stream(first_run_->output, first_run_->output_bytes);
      json["errors"] = stream(first_run_->errors, first_run_->error_bytes);
    }
    wall_seconds_.clear();
    exit_statuses_.clear();
    user_ = system_ = {};
    max_resident_bytes_.reset();
    failed_run_.reset();
    first_run_.reset();
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  RunOptions run_options() const {
    RunOptions how;
    how.timeout = options_.timeout;
    how.stop = options_.stop;
    how.keep_output = runs_ == 0 ? kept_of_first_run : 0;
    how.keep_errors = runs_ == 0 ? kept_of_first_run : kept_of_errors;
    return how;
  }

  bool failed(const RunResult& result) const {
    return options_.accept_any_status ? result.end != RunResult::End::exited : !result.succeeded();
  }

  void note(const RunResult& result) {
    wall_seconds_.push_back(seconds_of(result.wall));
    user_ += result.user;
    system_ += result.system;
    if (result.exit_status >= 0) exit_statuses_.insert(result.exit_status);
    if (!result.max_resident_is_bound) {
      max_resident_bytes_ = std::max(max_resident_bytes_.value_or(0), result.max_resident_bytes);
    }
    if (runs_ == 1) first_run_ = result;
  }

  std::string name_;
  ProgramCall call_;
  ProgramStageOptions options_;
  std::uint64_t pending_ = 0;
  std::uint64_t runs_ = 0;
  // Of the runs since the last call of details:
  std::vector<double> wall_seconds_;
  std::chrono::nanoseconds user_{};
  std::chrono::nanoseconds system_{};
  std::optional<std::uint64_t> max_resident_bytes_;
  std::set<int> exit_statuses_;
  std::optional<RunResult> failed_run_;
  std::optional<RunResult> first_run_;
};

}  // namespace

std::unique_ptr<Stage> make_program_stage(std::string name, ProgramCall call, const ProgramStageOptions& options) {
  return std::make_unique<ProgramStage>(std::move(name), std::move(call), options);
}

}  // namespace joulegrid
