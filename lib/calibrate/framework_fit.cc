#include "lib/calibrate/framework_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lmsimbench::calibrate {
namespace {

// Fewer runs than this say too little of a framework.
constexpr size_t kEnoughRuns = 5;
// How far a class is expected to be from the one it comes from, beside how far
// that is expected to be from the initial values.
constexpr double kOfParent = 1;
// A constant is felt where doubling it moves a prediction by more than this
// share.
constexpr double kFelt = 1e-3;
// How far a device may be from all devices of its framework.
constexpr double kMostRelative = 2.5;

LeastSquaresOptions Options() {
  LeastSquaresOptions options;
  options.tolerance = 1e-5;
  return options;
}

// How many constants are not the same.
size_t Changed(absl::Span<const double> constants,
               absl::Span<const double> anchor) {
  size_t changed = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    changed += constants[i] == anchor[i] ? 0 : 1;
  }
  return changed;
}

// What a parent says of a constant; null where it says nothing.
const CalibratedConstant* Find(const CalibratedFramework* parent,
                               const std::string& name,
                               const std::string& accelerator) {
  if (parent == nullptr) return nullptr;
  for (const CalibratedConstant& constant : parent->constants) {
    if (constant.name == name && constant.accelerator == accelerator) {
      return &constant;
    }
  }
  return nullptr;
}

}  // namespace

FrameworkFit::FrameworkFit(Target target,
                           absl::Span<const CostedRun* const> runs,
                           const CalibratedFramework* parent, int threads)
    : target_(target), predictions_(target, runs, threads) {
  for (const FrameworkConstant& constant : FrameworkConstants()) {
    if (constant.target != target) continue;
    AddSearched(constant, parent);
    const auto& accelerators = predictions_.accelerators();
    if (!constant.of_accelerator || accelerators.size() == 1) continue;
    for (const std::string& accelerator : accelerators) {
      AddRelative(constant, accelerator, parent);
    }
  }
}

void FrameworkFit::AddSearched(FrameworkConstant constant,
                               const CalibratedFramework* parent) {
  const CalibratedConstant* found = Find(parent, constant.constant.name, "");
  if (found != nullptr) {
    constant.constant.initial = constant.busy = found->value;
    constant.constant.spread *= kOfParent;
  }
  searched_.push_back({constant.constant.name, "", constant.constant,
                       constant.busy, found != nullptr});
}

void FrameworkFit::AddRelative(const FrameworkConstant& constant,
                               const std::string& accelerator,
                               const CalibratedFramework* parent) {
  const std::string& name = constant.constant.name;
  const CalibratedConstant* of_all = Find(parent, name, "");
  const CalibratedConstant* found = Find(parent, name, accelerator);
  const bool inherited = of_all != nullptr && found != nullptr;
  Constant relative;
  relative.name = name;
  relative.lowest = 1 / kMostRelative;
  relative.highest = kMostRelative;
  relative.initial = inherited ? std::clamp(found->value / of_all->value,
                                            relative.lowest, relative.highest)
                               : 1;
  relative.spread = constant.constant.spread;
  searched_.push_back(
      {name, accelerator, relative, relative.initial, inherited});
}

absl::Status FrameworkFit::Run(bool leave_one_out,
                               CalibratedFramework& framework) {
  if (predictions_.size() < kEnoughRuns) return absl::OkStatus();
  absl::Status status = KeepFelt();
  if (!status.ok()) return status;
  CalibrationError& error =
      target_ == Target::kTime ? framework.time : framework.memory;
  error.runs = static_cast<int64_t>(predictions_.size());
  std::vector<double> residuals(predictions_.size());
  std::vector<double> initial;
  for (const Searched& searched : searched_) {
    initial.push_back(searched.constant.initial);
  }
  status = Residuals(initial, absl::MakeSpan(residuals));
  if (!status.ok()) return status;
  error.before_percent = ErrorPercent(residuals);
  const auto fit = Search(absl::MakeSpan(residuals));
  if (!fit.ok()) return fit.status();
  error.after_percent = ErrorPercent(residuals);
  for (size_t i = 0; i < searched_.size(); ++i) {
    const Searched& searched = searched_[i];
    const FittedConstant& found = fit->constants[i];
    CalibratedConstant constant;
    constant.name = searched.field;
    constant.accelerator = searched.accelerator;
    // That of all devices comes before those of each.
    const double of_all = searched.is_relative()
                              ? Find(&framework, searched.field, "")->value
                              : 1;
    constant.value = of_all * found.value;
    constant.error = of_all * found.error;
    constant.initial = of_all * searched.constant.initial;
    constant.lowest = of_all * searched.constant.lowest;
    constant.highest = of_all * searched.constant.highest;
    constant.at_bound = found.at_bound;
    if (leave_one_out) {
      status = SearchWithout(i, fit->constants, absl::MakeSpan(residuals));
      if (!status.ok()) return status;
      constant.error_percent_without = ErrorPercent(residuals);
    }
    framework.constants.push_back(std::move(constant));
  }
  return absl::OkStatus();
}

absl::Status FrameworkFit::KeepFelt() {
  std::vector<bool> felt(searched_.size());
  std::vector<double> here(predictions_.size());
  std::vector<double> there(predictions_.size());
  for (const bool busy : {false, true}) {
    std::vector<double> at;
    for (const Searched& searched : searched_) {
      at.push_back(busy ? searched.busy : searched.constant.initial);
    }
    absl::Status status = Residuals(at, absl::MakeSpan(here));
    if (!status.ok()) return status;
    for (size_t i = 0; i < searched_.size(); ++i) {
      std::vector<double> moved = at;
      moved[i] *= 2;
      status = Residuals(moved, absl::MakeSpan(there));
      if (!status.ok()) return status;
      for (size_t r = 0; r < here.size(); ++r) {
        felt[i] = felt[i] || std::abs(here[r] - there[r]) > kFelt;
      }
    }
  }
  std::vector<Searched> kept;
  for (size_t i = 0; i < searched_.size(); ++i) {
    if (felt[i] || searched_[i].inherited) {
      kept.push_back(std::move(searched_[i]));
    }
  }
  searched_ = std::move(kept);
  return absl::OkStatus();
}

FrameworkParameters FrameworkFit::ParametersOn(
    const std::string& accelerator, absl::Span<const double> constants) const {
  FrameworkParameters parameters;
  for (size_t i = 0; i < searched_.size(); ++i) {
    const Searched& searched = searched_[i];
    double& field = FieldOf(parameters, searched.field);
    if (!searched.is_relative()) {
      field = constants[i];
    } else if (searched.accelerator == accelerator) {
      field *= constants[i];
    }
  }
  return parameters;
}

absl::Status FrameworkFit::Residuals(absl::Span<const double> constants,
                                     absl::Span<double> residuals) {
  // A derivative moves one constant, which few runs may feel; every other step
  // moves several.
  const bool is_anchor =
      anchor_.size() != constants.size() || Changed(constants, anchor_) > 1;
  if (is_anchor) anchor_.assign(constants.begin(), constants.end());
  return predictions_.Residuals(
      [&](const std::string& accelerator) {
        return ParametersOn(accelerator, constants);
      },
      is_anchor, residuals);
}

absl::StatusOr<LeastSquaresFit> FrameworkFit::Search(
    absl::Span<double> residuals) {
  LeastSquaresFit best;
  for (const bool busy : {false, true}) {
    std::vector<Constant> constants;
    for (const Searched& searched : searched_) {
      constants.push_back(searched.constant);
      if (busy) constants.back().start = searched.busy;
    }
    auto fit = FitLeastSquares(
        constants, predictions_.size(),
        [this](absl::Span<const double> at, absl::Span<double> written) {
          return Residuals(at, written);
        },
        Options());
    if (!fit.ok()) return fit.status();
    if (best.constants.empty() || fit->loss < best.loss) {
      best = *std::move(fit);
    }
  }
  std::vector<double> found;
  for (const auto& constant : best.constants) found.push_back(constant.value);
  const absl::Status status = Residuals(found, residuals);
  if (!status.ok()) return status;
  return best;
}

absl::Status FrameworkFit::SearchWithout(size_t left_out,
                                         absl::Span<const FittedConstant> found,
                                         absl::Span<double> residuals) {
  std::vector<Constant> constants;
  for (size_t i = 0; i < searched_.size(); ++i) {
    if (i == left_out) continue;
    constants.push_back(searched_[i].constant);
    constants.back().start = found[i].value;
  }
  const auto all_of = [&](absl::Span<const double> others) {
    std::vector<double> all(others.begin(), others.end());
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(left_out),
               searched_[left_out].constant.initial);
    return all;
  };
  const auto fit = FitLeastSquares(
      constants, predictions_.size(),
      [&](absl::Span<const double> others, absl::Span<double> written) {
        return Residuals(all_of(others), written);
      },
      Options());
  if (!fit.ok()) return fit.status();
  std::vector<double> others;
  for (const auto& constant : fit->constants) others.push_back(constant.value);
  return Residuals(all_of(others), residuals);
}

}  // namespace lmsimbench::calibrate
