#include "lib/calibrate/run_predictions.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <utility>

#include "lib/aggregate/partial.h"
#include "lib/cost/framework_model.h"
#include "lmsimbench/answer_sheet.h"

namespace lmsimbench::calibrate {
namespace {

bool SameCosts(absl::Span<const Cost> a, absl::Span<const Cost> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Cost& x, const Cost& y) {
                      return x.seconds == y.seconds && x.host_s == y.host_s;
                    });
}

bool SameContention(const Contention& a, const Contention& b) {
  return a.compute == b.compute && a.links == b.links;
}

// Calls `work(i, thread)` for every i below `count`, each once.
template <typename Work>
void InThreads(size_t count, size_t threads, Work&& work) {
  std::atomic<size_t> next{0};
  const auto run = [&](size_t thread) {
    for (size_t i = next++; i < count; i = next++) work(i, thread);
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < std::min(threads, count); ++t) {
    others.emplace_back(run, t);
  }
  run(0);
  for (std::thread& other : others) other.join();
}

}  // namespace

double MeasuredOf(Target target, const MeasuredRun& run) {
  return target == Target::kTime ? run.iteration_time_s : run.peak_memory_bytes;
}

double ErrorPercent(absl::Span<const double> residuals) {
  if (residuals.empty()) return kNoNumber;
  double sum = 0;
  for (const double residual : residuals) sum += std::abs(residual);
  return 100 * (std::exp(sum / static_cast<double>(residuals.size())) - 1);
}

RunPredictions::RunPredictions(Target target,
                               absl::Span<const CostedRun* const> runs,
                               int threads)
    : target_(target), scratch_(static_cast<size_t>(std::max(1, threads))) {
  std::set<std::string> accelerators;
  for (const CostedRun* run : runs) {
    if (!IsStated(MeasuredOf(target, *run->run))) continue;
    accelerators.insert(run->system.accelerator.name);
    slots_.emplace_back();
    slots_.back().run = run;
    slots_.back().costed = run->costed;
  }
  accelerators_.assign(accelerators.begin(), accelerators.end());
  for (Slot& slot : slots_) {
    slot.accelerator = static_cast<size_t>(
        std::lower_bound(accelerators_.begin(), accelerators_.end(),
                         slot.run->system.accelerator.name) -
        accelerators_.begin());
  }
}

absl::Status RunPredictions::Residuals(
    absl::FunctionRef<FrameworkParameters(const std::string&)> parameters_on,
    bool is_anchor, absl::Span<double> residuals) {
  std::vector<FrameworkParameters> parameters;
  for (const std::string& accelerator : accelerators_) {
    parameters.push_back(parameters_on(accelerator));
  }
  std::vector<absl::Status> failures(scratch_.size());
  std::vector<size_t> failed_at(scratch_.size(), slots_.size());
  InThreads(slots_.size(), scratch_.size(), [&](size_t i, size_t thread) {
    Slot& slot = slots_[i];
    double predicted = 0;
    absl::Status status = Predict(parameters[slot.accelerator], is_anchor, slot,
                                  scratch_[thread], predicted);
    residuals[i] = std::log(predicted / MeasuredOf(target_, *slot.run->run));
    if (status.ok() || failed_at[thread] < i) return;
    failed_at[thread] = i;
    failures[thread] = std::move(status);
  });
  // The first run that failed says why, however many threads there are.
  const auto first = std::min_element(failed_at.begin(), failed_at.end());
  return failures[static_cast<size_t>(first - failed_at.begin())];
}

absl::Status RunPredictions::Predict(const FrameworkParameters& parameters,
                                     bool is_anchor, Slot& slot,
                                     Scratch& scratch,
                                     double& predicted) const {
  if (slot.has_anchor && parameters == slot.parameters) {
    predicted = slot.predicted;
    return absl::OkStatus();
  }
  absl::Status status =
      target_ == Target::kTime
          ? PredictTime(parameters, is_anchor, slot, scratch, predicted)
          : PredictPeak(parameters, slot, scratch, predicted);
  if (!status.ok()) {
    slot.has_anchor = false;
    return status;
  }
  if (is_anchor) {
    slot.has_anchor = true;
    slot.parameters = parameters;
    slot.predicted = predicted;
  }
  return absl::OkStatus();
}

absl::Status RunPredictions::PredictTime(const FrameworkParameters& parameters,
                                         bool is_anchor, Slot& slot,
                                         Scratch& scratch,
                                         double& predicted) const {
  const CostedGraph& device = slot.run->costed;
  CostedGraph& costed = slot.costed;
  scratch.operators = device.operators;
  scratch.collectives = device.collectives;
  RunInside(parameters, costed.graph.program.operators,
            absl::MakeSpan(scratch.operators));
  RunInside(parameters, costed.spanned, absl::MakeSpan(scratch.collectives));
  Contention contention = ContentionInside(parameters);
  if (slot.has_anchor && SameContention(contention, costed.contention) &&
      SameCosts(scratch.operators, costed.operators) &&
      SameCosts(scratch.collectives, costed.collectives)) {
    predicted = slot.predicted;
    return absl::OkStatus();
  }
  std::swap(scratch.operators, costed.operators);
  std::swap(scratch.collectives, costed.collectives);
  std::swap(contention, costed.contention);
  const absl::StatusOr<double> time =
      aggregate::IterationTime(costed, scratch.workspace);
  if (!is_anchor) {
    std::swap(scratch.operators, costed.operators);
    std::swap(scratch.collectives, costed.collectives);
    std::swap(contention, costed.contention);
  }
  if (!time.ok()) return time.status();
  predicted = *time;
  return absl::OkStatus();
}

absl::Status RunPredictions::PredictPeak(const FrameworkParameters& parameters,
                                         Slot& slot, Scratch& scratch,
                                         double& predicted) const {
  Program& program = slot.costed.graph.program;
  scratch.program = program;
  KeepInside(parameters, program);
  aggregate::PredictPeaks(slot.costed, scratch.workspace, scratch.prediction);
  std::swap(scratch.program, program);
  predicted = PeakAsMeasured(*slot.run->run, scratch.prediction);
  return absl::OkStatus();
}

}  // namespace lmsimbench::calibrate
