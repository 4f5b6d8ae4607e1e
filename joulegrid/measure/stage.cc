#include "joulegrid/measure/stage.h"

#include <utility>

namespace joulegrid {

namespace {

class CallableStage final : public Stage {
 public:
  CallableStage(std::string name, std::function<void(std::uint64_t)> enqueue, std::function<void()> synchronise)
      : name_(std::move(name)), enqueue_(std::move(enqueue)), synchronise_(std::move(synchronise)) {}

  const std::string& name() const override { return name_; }
  void enqueue(std::uint64_t repetitions) override { enqueue_(repetitions); }
  std::optional<Fault> synchronise() override {
    if (synchronise_) synchronise_();
    return std::nullopt;
  }

 private:
  std::string name_;
  std::function<void(std::uint64_t)> enqueue_;
  std::function<void()> synchronise_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(std::string name, std::function<void(std::uint64_t)> enqueue,
                                  std::function<void()> synchronise) {
  return std::make_unique<CallableStage>(std::move(name), std::move(enqueue), std::move(synchronise));
}

std::unique_ptr<Stage> make_stage(std::string name, std::function<void()> once) {
  return make_stage(std::move(name),
                    [once = std::move(once)](std::uint64_t repetitions) {
                      for (std::uint64_t i = 0; i < repetitions; ++i) once();
                    },
                    {});
}

}  // namespace joulegrid
