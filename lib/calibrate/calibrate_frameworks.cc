#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "fmt/format.h"
#include "lib/calibrate/framework_constants.h"
#include "lib/cost/framework_model.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/pipeline.h"
#include "lmsimbench/row_kind.h"
#include "lmsimbench/staged.h"

namespace lmsimbench {
namespace {

using calibrate::Constant;
using calibrate::FrameworkClass;
using calibrate::FrameworkConstant;

// Fewer rows than this say too little of a framework.
constexpr size_t kEnoughRows = 5;
// A constant is felt where doubling it moves a time by more than this share.
constexpr double kFelt = 1e-3;

// A run with what its operators and collectives cost on the device alone.
struct Row {
  double measured_s = 0;
  System system;
  CostedGraph costed;
};

// The first four stages, as `staged` runs them.
absl::StatusOr<Row> RowOf(const MeasuredRun& run, const Bundle& bundle,
                          const CostModel& device) {
  absl::StatusOr<System> platform = FindPlatform(bundle, run.platform);
  if (!platform.ok()) {
    return absl::FailedPreconditionError(platform.status().message());
  }
  Row row;
  row.measured_s = run.iteration_time_s;
  row.system = SystemOfRun(*platform, run);
  Workload workload = run.workload;
  ParallelConfig config = run.config;
  ChooseWhatIsOpen(row.system, workload, config);
  const absl::StatusOr<Program> program = Compile(workload, config);
  if (!program.ok()) return program.status();
  const absl::StatusOr<Placement> placement = Place(config, row.system);
  if (!placement.ok()) return placement.status();
  const absl::StatusOr<ExecutionGraph> graph =
      Lower(*program, *placement, config);
  if (!graph.ok()) return graph.status();
  const absl::Status status = CostGraphInto(*graph, device, row.costed);
  if (!status.ok()) return status;
  return row;
}

// A constant of the fit: which field, of which device.
struct Searched {
  std::string field;
  std::string accelerator;
  Constant constant;
  double busy = 0;
};

class Fit {
 public:
  Fit(const FrameworkClass& framework, std::vector<Row> rows,
      int64_t unanswered)
      : rows_(std::move(rows)) {
    result_.rows = static_cast<int64_t>(rows_.size());
    result_.unanswered = unanswered;
    result_.name = framework.name;
    result_.begins.assign(framework.begins.begin(), framework.begins.end());
    for (const Row& row : rows_) {
      accelerators_.insert(row.system.accelerator.name);
    }
    for (const FrameworkConstant& constant : calibrate::FrameworkConstants()) {
      if (!constant.of_accelerator) {
        searched_.push_back({constant.constant.name, "", constant.constant, constant.busy});
        continue;
      }
      for (const std::string& accelerator : accelerators_) {
        searched_.push_back(
            {constant.constant.name, accelerator, constant.constant,
             constant.busy});
      }
    }
  }

  absl::StatusOr<CalibratedFramework> Run(bool leave_one_out) {
    if (rows_.size() < kEnoughRows) return result_;
    absl::Status status = KeepFelt();
    if (!status.ok()) return status;
    std::vector<double> before(rows_.size());
    status = Residuals(Initial(), absl::MakeSpan(before));
    if (!status.ok()) return status;
    result_.error_percent_before = ErrorPercent(before);
    std::vector<double> after(rows_.size());
    auto fit = Search(kNone, after);
    if (!fit.ok()) return fit.status();
    result_.error_percent = ErrorPercent(after);
    for (size_t i = 0; i < searched_.size(); ++i) {
      const Searched& searched = searched_[i];
      const calibrate::FittedConstant& found = fit->constants[i];
      result_.constants.push_back(
          {searched.field, searched.accelerator, found.value, found.error,
           searched.constant.initial, searched.constant.lowest,
           searched.constant.highest, found.at_bound, kNoNumber});
    }
    if (!leave_one_out) return result_;
    for (size_t i = 0; i < searched_.size(); ++i) {
      auto without = Search(i, after);
      if (!without.ok()) return without.status();
      result_.constants[i].error_percent_without = ErrorPercent(after);
    }
    return result_;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  static double ErrorPercent(absl::Span<const double> residuals) {
    double sum = 0;
    for (const double residual : residuals) sum += std::abs(residual);
    return 100 * (std::exp(sum / static_cast<double>(residuals.size())) - 1);
  }

  std::vector<double> Initial() const {
    std::vector<double> initial;
    for (const Searched& searched : searched_) {
      initial.push_back(searched.constant.initial);
    }
    return initial;
  }

  // Drops the constants of which these rows say nothing, wherever the search
  // starts: a framework of dense models has no constants of experts.
  absl::Status KeepFelt() {
    std::vector<bool> felt(searched_.size());
    for (const bool busy : {false, true}) {
      std::vector<double> at;
      for (const Searched& searched : searched_) {
        at.push_back(busy ? searched.busy : searched.constant.initial);
      }
      std::vector<double> here(rows_.size());
      std::vector<double> there(rows_.size());
      absl::Status status = Residuals(at, absl::MakeSpan(here));
      if (!status.ok()) return status;
      for (size_t i = 0; i < searched_.size(); ++i) {
        std::vector<double> moved = at;
        moved[i] = std::min(searched_[i].constant.highest, 2 * at[i] + 1e-9);
        status = Residuals(moved, absl::MakeSpan(there));
        if (!status.ok()) return status;
        for (size_t r = 0; r < here.size(); ++r) {
          felt[i] = felt[i] || std::abs(here[r] - there[r]) > kFelt;
        }
      }
    }
    std::vector<Searched> kept;
    for (size_t i = 0; i < searched_.size(); ++i) {
      if (felt[i]) kept.push_back(std::move(searched_[i]));
    }
    searched_ = std::move(kept);
    return absl::OkStatus();
  }

  FrameworkParameters ParametersOn(const std::string& accelerator,
                                   absl::Span<const double> constants) const {
    FrameworkParameters parameters;
    for (size_t i = 0; i < searched_.size(); ++i) {
      const Searched& searched = searched_[i];
      if (searched.accelerator.empty() || searched.accelerator == accelerator) {
        calibrate::FieldOf(parameters, searched.field) = constants[i];
      }
    }
    return parameters;
  }

  absl::Status Residuals(absl::Span<const double> constants,
                         absl::Span<double> residuals) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const FrameworkParameters parameters =
          ParametersOn(row.system.accelerator.name, constants);
      costed_ = row.costed;
      RunInside(parameters, costed_.graph.program.operators,
                absl::MakeSpan(costed_.operators));
      RunInside(parameters, costed_.spanned,
                absl::MakeSpan(costed_.collectives));
      const absl::Status status =
          AggregateInto(costed_, row.system, workspace_, prediction_);
      if (!status.ok()) return status;
      residuals[i] = std::log(prediction_.iteration_time_s / row.measured_s);
    }
    return absl::OkStatus();
  }

  // Fits all constants but `left_out`, from both starts, and writes what
  // remains.
  absl::StatusOr<calibrate::LeastSquaresFit> Search(
      size_t left_out, std::vector<double>& residuals) {
    const auto all_of = [&](absl::Span<const double> found) {
      std::vector<double> all(found.begin(), found.end());
      if (left_out != kNone) {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(left_out),
                   searched_[left_out].constant.initial);
      }
      return all;
    };
    calibrate::LeastSquaresOptions options;
    options.tolerance = 1e-5;
    calibrate::LeastSquaresFit best;
    for (const bool busy : {false, true}) {
      std::vector<Constant> constants;
      for (size_t i = 0; i < searched_.size(); ++i) {
        if (i == left_out) continue;
        constants.push_back(searched_[i].constant);
        if (busy) constants.back().start = searched_[i].busy;
      }
      auto fit = calibrate::FitLeastSquares(
          constants, rows_.size(),
          [&](absl::Span<const double> found, absl::Span<double> written) {
            return Residuals(all_of(found), written);
          },
          options);
      if (!fit.ok()) return fit.status();
      if (best.constants.empty() || fit->loss < best.loss) {
        best = *std::move(fit);
      }
    }
    std::vector<double> found;
    for (const auto& constant : best.constants) found.push_back(constant.value);
    const absl::Status status =
        Residuals(all_of(found), absl::MakeSpan(residuals));
    if (!status.ok()) return status;
    return best;
  }

  std::vector<Row> rows_;
  CostedGraph costed_;
  Workspace workspace_;
  Prediction prediction_;
  std::set<std::string> accelerators_;
  std::vector<Searched> searched_;
  CalibratedFramework result_;
};

}  // namespace

absl::StatusOr<std::vector<CalibratedFramework>> CalibrateFrameworks(
    const Measurements& measurements, const Bundle& bundle,
    const CalibrateOptions& options) {
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      MakeStagedKernelModel(bundle);
  if (!model.ok()) return model.status();

  const auto classes = calibrate::FrameworkClasses();
  std::vector<std::vector<Row>> rows(classes.size());
  std::vector<int64_t> unanswered(classes.size());
  for (const MeasuredRun& run : measurements.runs) {
    const int of = calibrate::ClassOf(run.framework);
    if (of < 0 || run.split != kFitSplit || !IsHeadline(run) ||
        !IsStated(run.iteration_time_s) ||
        !(options.framework.empty() || options.framework == classes[of].name)) {
      continue;
    }
    absl::StatusOr<Row> row = RowOf(run, bundle, **model);
    if (row.ok()) {
      rows[of].push_back(*std::move(row));
    } else if (IsRefusal(row.status())) {
      ++unanswered[of];
    } else {
      return row.status();
    }
  }

  std::vector<CalibratedFramework> calibrated;
  std::vector<std::string> names;
  for (size_t i = 0; i < classes.size(); ++i) {
    names.emplace_back(classes[i].name);
    if (!options.framework.empty() && options.framework != classes[i].name) {
      continue;
    }
    auto framework = Fit(classes[i], std::move(rows[i]), unanswered[i])
                         .Run(options.leave_one_out);
    if (!framework.ok()) return framework.status();
    calibrated.push_back(*std::move(framework));
  }
  if (calibrated.empty()) {
    const std::string nearest = NearestName(options.framework, names);
    return absl::NotFoundError(fmt::format(
        "no framework class is called '{}'{}", options.framework,
        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
  }
  return calibrated;
}

std::vector<FittedFramework> Fitted(
    const std::vector<CalibratedFramework>& calibrated) {
  std::vector<FittedFramework> fitted;
  for (const CalibratedFramework& framework : calibrated) {
    std::set<std::string> accelerators;
    for (const CalibratedConstant& constant : framework.constants) {
      accelerators.insert(constant.accelerator);
    }
    for (const std::string& accelerator : accelerators) {
      FittedFramework entry;
      entry.accelerator = accelerator;
      for (const CalibratedConstant& constant : framework.constants) {
        if (!constant.accelerator.empty() &&
            constant.accelerator != accelerator) {
          continue;
        }
        calibrate::FieldOf(entry.parameters, constant.name) = constant.value;
      }
      for (const std::string& begin : framework.begins) {
        entry.name = begin;
        fitted.push_back(entry);
      }
    }
  }
  return fitted;
}

}  // namespace lmsimbench
