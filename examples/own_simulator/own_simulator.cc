// A simulator of one's own, scored on the bundled measurements beside a
// built-in one. What it needs is one function that answers or refuses.

#include <cstdio>
#include <string>
#include <vector>

#include "lmsimbench/lmsimbench.h"

namespace {

// The model's operations at 40 % of the peak, and the bubble of the pipeline.
class Simple : public lmsimbench::Simulator {
 public:
  Simple() : Simulator("simple") {}

 private:
  absl::Status DoPredict(const lmsimbench::Workload& workload,
                         const lmsimbench::System& system,
                         const lmsimbench::ParallelConfig& config,
                         lmsimbench::Workspace&,
                         lmsimbench::Prediction& prediction) const override {
    const auto flops = lmsimbench::CountFlopsPerToken(workload);
    if (!flops.ok()) return flops.status();
    const double peak =
        lmsimbench::PeakFlops(system.accelerator, workload.precision);
    const int64_t micro_batches = lmsimbench::MicroBatches(workload, config);
    if (!lmsimbench::IsStated(peak) || !lmsimbench::IsStated(micro_batches)) {
      return absl::FailedPreconditionError(
          "needs the accelerator's peak and the micro-batch");
    }
    const double tokens =
        static_cast<double>(workload.global_batch * workload.seq_len);
    const double busy_s =
        flops->total * tokens /
        (0.4 * peak * static_cast<double>(lmsimbench::Devices(config)));
    const double bubble_s = busy_s * static_cast<double>(config.pp - 1) /
                            static_cast<double>(micro_batches);
    prediction.iteration_time_s = busy_s + bubble_s;
    prediction.time.bubble_s = bubble_s;
    prediction.time.other_s = busy_s;
    return absl::OkStatus();
  }
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int main() {
  const auto bundle = lmsimbench::Bundle::Embedded();
  if (!bundle.ok()) return Fail(bundle.status());
  const auto measurements = lmsimbench::ReadMeasurements(*bundle);
  if (!measurements.ok()) return Fail(measurements.status());

  const Simple simple;
  const auto calculon = lmsimbench::MakeCalculon();
  std::vector<lmsimbench::AnswerSheet> sheets;
  const lmsimbench::Simulator* const simulators[] = {&simple, calculon.get()};
  for (const lmsimbench::Simulator* simulator : simulators) {
    auto sheet = lmsimbench::Ask(*simulator, *measurements, *bundle);
    if (!sheet.ok()) return Fail(sheet.status());
    sheets.push_back(*std::move(sheet));
  }
  const auto card = lmsimbench::Score(*measurements, sheets);
  if (!card.ok()) return Fail(card.status());

  lmsimbench::TableOptions headline_only;
  headline_only.by_source = false;
  headline_only.flagged = false;
  std::fputs(lmsimbench::ScorecardTable(*card, headline_only).c_str(), stdout);
  return 0;
}
