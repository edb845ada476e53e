// Answers the line protocol with the library:
//   serving_program NAME      a built-in simulator
//   serving_program nameless  a simulator without a name
//   serving_program failure   says why it cannot serve

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "lmsimbench/external_simulator.h"
#include "lmsimbench/simulators.h"

namespace {

class Nameless final : public lmsimbench::Simulator {
 public:
  Nameless() : Simulator("") {}

 private:
  absl::Status DoPredict(const lmsimbench::Workload&, const lmsimbench::System&,
                         const lmsimbench::ParallelConfig&,
                         lmsimbench::Workspace&,
                         lmsimbench::Prediction& prediction) const override {
    prediction.iteration_time_s = 1;
    return absl::OkStatus();
  }
};

absl::Status Serve(const std::string& name) {
  if (name == "failure") {
    return lmsimbench::ServeFailure(absl::NotFoundError("no model file"),
                                    STDIN_FILENO, STDOUT_FILENO);
  }
  if (name == "nameless") {
    return lmsimbench::ServeSimulator(Nameless(), STDIN_FILENO, STDOUT_FILENO);
  }
  const auto bundle = lmsimbench::Bundle::Embedded();
  if (!bundle.ok()) return bundle.status();
  const auto simulator = lmsimbench::MakeSimulator(name, *bundle);
  if (!simulator.ok()) return simulator.status();
  return lmsimbench::ServeSimulator(**simulator, STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Serve(argc > 1 ? argv[1] : "");
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
