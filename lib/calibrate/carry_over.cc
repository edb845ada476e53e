#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/calibrate/calibrate_class.h"
#include "lib/calibrate/run_predictions.h"
#include "lmsimbench/calibrate.h"

namespace lmsimbench {
namespace {

using calibrate::ClassRuns;
using calibrate::CostedRun;
using calibrate::FrameworkClass;
using calibrate::Target;

// Sources of the runs of a class.
std::set<std::string> SourcesOf(const ClassRuns& runs) {
  std::set<std::string> sources;
  for (const CostedRun& run : runs.costed) sources.insert(run.run->source);
  return sources;
}

// The constants of every class, but for what the runs of one source say.
class Calibrations {
 public:
  Calibrations(const std::vector<ClassRuns>& runs,
               const CalibrateOptions& options)
      : runs_(runs), options_(options) {
    options_.leave_one_out = false;
  }

  // Of a class without a source; empty: with all of them.
  absl::StatusOr<const CalibratedFramework*> Of(size_t index,
                                                const std::string& left_out) {
    const FrameworkClass& framework = calibrate::FrameworkClasses()[index];
    // Without what it does not have a class is what it is.
    std::string without = left_out;
    if (!DependsOn(index, left_out)) without.clear();
    const auto found = known_.find({index, without});
    if (found != known_.end()) return &found->second;
    const CalibratedFramework* parent = nullptr;
    const int of = ParentIndex(framework);
    if (of >= 0) {
      const auto from = Of(static_cast<size_t>(of), without);
      if (!from.ok()) return from.status();
      parent = *from;
    }
    auto fitted = calibrate::CalibrateClass(framework, runs_[index], without,
                                            parent, options_);
    if (!fitted.ok()) return fitted.status();
    return &known_.emplace(std::make_pair(index, without), *std::move(fitted))
                .first->second;
  }

 private:
  // The class it comes from, where that is asked for, too.
  int ParentIndex(const FrameworkClass& framework) const {
    const auto classes = calibrate::FrameworkClasses();
    for (size_t i = 0; i < classes.size(); ++i) {
      if (std::string(classes[i].name) == framework.parent &&
          calibrate::IsAsked(classes[i], options_)) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  bool DependsOn(size_t index, const std::string& source) const {
    if (SourcesOf(runs_[index]).count(source) > 0) return true;
    const int parent = ParentIndex(calibrate::FrameworkClasses()[index]);
    return parent >= 0 && DependsOn(static_cast<size_t>(parent), source);
  }

  const std::vector<ClassRuns>& runs_;
  CalibrateOptions options_;
  // Pointers to what a map holds stay valid.
  std::map<std::pair<size_t, std::string>, CalibratedFramework> known_;
};

// Error of the runs with what a calibration found.
absl::StatusOr<double> ErrorWith(const CalibratedFramework& framework,
                                 calibrate::RunPredictions& predictions) {
  std::vector<double> residuals(predictions.size());
  const absl::Status status = predictions.Residuals(
      [&](const std::string& accelerator) {
        return calibrate::ParametersOf(framework, accelerator);
      },
      true, absl::MakeSpan(residuals));
  if (!status.ok()) return status;
  return calibrate::ErrorPercent(residuals);
}

bool IsFitted(const CalibratedFramework& framework, Target target) {
  return (target == Target::kTime ? framework.time : framework.memory).runs > 0;
}

absl::Status AddError(Target target, absl::Span<const CostedRun* const> runs,
                      const CalibratedFramework& with,
                      const CalibratedFramework& without, int threads,
                      CarryOverError& error) {
  // What too few other runs leave open is not carried over.
  if (!IsFitted(without, target)) return absl::OkStatus();
  calibrate::RunPredictions predictions(target, runs, threads);
  error.runs = static_cast<int64_t>(predictions.size());
  if (error.runs == 0) return absl::OkStatus();
  const struct {
    CalibratedFramework framework;
    double& percent;
  } answers[] = {{CalibratedFramework(), error.uncalibrated_percent},
                 {without, error.without_percent},
                 {with, error.with_percent}};
  for (const auto& answer : answers) {
    const auto percent = ErrorWith(answer.framework, predictions);
    if (!percent.ok()) return percent.status();
    answer.percent = *percent;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<CarriedOver>> CarryOver(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  const absl::Status asked = calibrate::CheckAsked(options);
  if (!asked.ok()) return asked;
  const auto runs = calibrate::RunsByClass(measurements, bundle, options);
  if (!runs.ok()) return runs.status();
  Calibrations calibrations(*runs, options);
  std::vector<CarriedOver> carried;
  for (size_t i = 0; i < runs->size(); ++i) {
    const ClassRuns& here = (*runs)[i];
    const std::set<std::string> sources = SourcesOf(here);
    if (sources.size() < 2) continue;
    const auto with = calibrations.Of(i, "");
    if (!with.ok()) return with.status();
    for (const std::string& source : sources) {
      const auto without = calibrations.Of(i, source);
      if (!without.ok()) return without.status();
      std::vector<const CostedRun*> of_source;
      for (const CostedRun& run : here.costed) {
        if (run.run->source == source) of_source.push_back(&run);
      }
      CarriedOver entry;
      entry.framework = calibrate::FrameworkClasses()[i].name;
      entry.source = source;
      for (const Target target : {Target::kTime, Target::kMemory}) {
        const absl::Status status =
            AddError(target, of_source, **with, **without, options.threads,
                     target == Target::kTime ? entry.time : entry.memory);
        if (!status.ok()) return status;
      }
      if (entry.time.runs + entry.memory.runs == 0) continue;
      carried.push_back(std::move(entry));
    }
  }
  return carried;
}

}  // namespace lmsimbench
