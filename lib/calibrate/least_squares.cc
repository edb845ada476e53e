#include "lib/calibrate/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace lmsimbench::calibrate {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// The constants on the scale on which they are searched.
class Scale {
 public:
  explicit Scale(absl::Span<const Constant> constants)
      : constants_(constants) {}

  double ToSearch(size_t j, double value) const {
    return IsLogarithmic(j) ? std::log(value) : value;
  }
  double ToValue(size_t j, double searched) const {
    const double value = IsLogarithmic(j) ? std::exp(searched) : searched;
    // The logarithm of a bound need not lead back to it.
    return std::clamp(value, constants_[j].lowest, constants_[j].highest);
  }
  // Change of the value with what is searched.
  double Slope(size_t j, double value) const {
    return IsLogarithmic(j) ? value : 1;
  }
  double Lowest(size_t j) const { return ToSearch(j, constants_[j].lowest); }
  double Highest(size_t j) const { return ToSearch(j, constants_[j].highest); }

 private:
  bool IsLogarithmic(size_t j) const { return constants_[j].lowest > 0; }

  absl::Span<const Constant> constants_;
};

absl::Status CheckConstants(absl::Span<const Constant> constants) {
  for (const Constant& constant : constants) {
    const bool starts_within =
        !IsStated(constant.start) || (constant.lowest <= constant.start &&
                                      constant.start <= constant.highest);
    if (constant.lowest <= constant.initial &&
        constant.initial <= constant.highest && starts_within &&
        constant.lowest < constant.highest && constant.spread >= 0) {
      continue;
    }
    return absl::InvalidArgumentError(fmt::format(
        "constant '{}': {} has to lie within its range, {} to {}, and its "
        "spread {} must not be negative",
        constant.name, constant.initial, constant.lowest, constant.highest,
        constant.spread));
  }
  return absl::OkStatus();
}

class Fitter {
 public:
  Fitter(absl::Span<const Constant> constants, size_t count,
         Residuals residuals, const LeastSquaresOptions& options)
      : constants_(constants),
        scale_(constants),
        count_(static_cast<Eigen::Index>(count)),
        size_(static_cast<Eigen::Index>(constants.size())),
        residuals_(residuals),
        options_(options) {}

  absl::StatusOr<LeastSquaresFit> Run() {
    LeastSquaresFit fit;
    Vector at(size_);
    for (size_t j = 0; j < constants_.size(); ++j) {
      const Constant& constant = constants_[j];
      at[j] = scale_.ToSearch(
          j, IsStated(constant.start) ? constant.start : constant.initial);
    }
    Vector residual(count_);
    absl::Status status = Evaluate(at, residual);
    if (!status.ok()) return status;
    fit.initial_loss = fit.loss = Loss(at, residual);

    double damping = 1e-3;
    for (; fit.iterations < options_.most_iterations && !fit.converged;
         ++fit.iterations) {
      status = Linearise(at, residual);
      if (!status.ok()) return status;
      absl::StatusOr<bool> lowered = Step(at, residual, fit.loss, damping);
      if (!lowered.ok()) return lowered.status();
      fit.converged = !*lowered;
    }
    status = Linearise(at, residual);
    if (!status.ok()) return status;
    Report(at, fit);
    return fit;
  }

 private:
  absl::Status Evaluate(const Vector& at, Vector& residual) {
    std::vector<double> values(constants_.size());
    for (size_t j = 0; j < values.size(); ++j) {
      values[j] = scale_.ToValue(j, at[j]);
    }
    absl::Status status = residuals_(
        values, absl::MakeSpan(residual.data(), static_cast<size_t>(count_)));
    if (!status.ok()) return status;
    for (Eigen::Index i = 0; i < count_; ++i) {
      if (std::isfinite(residual[i])) continue;
      return absl::InternalError(
          fmt::format("residual {} is {}", i, residual[i]));
    }
    return absl::OkStatus();
  }

  double Loss(const Vector& at, const Vector& residual) const {
    const double square = options_.scale * options_.scale;
    double loss = 0;
    for (const double r : residual) {
      loss += square * (std::sqrt(1 + r * r / square) - 1);
    }
    for (Eigen::Index j = 0; j < size_; ++j) {
      const double away = Away(at, j);
      loss += 0.5 * square * away * away;
    }
    return loss;
  }

  // Standard deviations between a constant and what is expected of it.
  double Away(const Vector& at, Eigen::Index j) const {
    const Constant& constant = constants_[j];
    if (constant.spread == 0) return 0;
    return (at[j] - scale_.ToSearch(j, constant.initial)) / constant.spread;
  }

  // Gradient and curvature of the loss: each residual with the weight that its
  // size leaves it, and the expectations.
  absl::Status Linearise(const Vector& at, const Vector& residual) {
    Matrix jacobian(count_, size_);
    Vector moved(count_);
    for (Eigen::Index j = 0; j < size_; ++j) {
      const double lowest = scale_.Lowest(j);
      const double highest = scale_.Highest(j);
      double step = 1e-5 * std::max(1e-3, std::min(1.0, highest - lowest));
      if (at[j] + step > highest) step = -step;
      Vector beside = at;
      beside[j] += step;
      absl::Status status = Evaluate(beside, moved);
      if (!status.ok()) return status;
      jacobian.col(j) = (moved - residual) / step;
    }
    const double square = options_.scale * options_.scale;
    const Vector weight =
        (1 + residual.array().square() / square).sqrt().inverse();
    curvature_ = jacobian.transpose() * weight.asDiagonal() * jacobian;
    gradient_ = jacobian.transpose() * weight.cwiseProduct(residual);
    for (Eigen::Index j = 0; j < size_; ++j) {
      const double spread = constants_[j].spread;
      if (spread == 0) continue;
      curvature_(j, j) += square / (spread * spread);
      gradient_[j] += square * Away(at, j) / spread;
    }
    return absl::OkStatus();
  }

  // Moves to where the loss is lower, with more and more damping. False if no
  // step lowers it by more than the tolerance.
  absl::StatusOr<bool> Step(Vector& at, Vector& residual, double& loss,
                            double& damping) {
    Vector there(count_);
    for (; damping < 1e12; damping *= 10) {
      const Vector next = Proposed(at, damping);
      absl::Status status = Evaluate(next, there);
      if (!status.ok()) return status;
      const double lower = Loss(next, there);
      if (!(lower < loss)) continue;
      const bool is_enough = loss - lower > options_.tolerance * loss;
      at = next;
      residual = there;
      loss = lower;
      damping = std::max(1e-9, damping / 10);
      return is_enough;
    }
    damping = 1e-3;
    return false;
  }

  // The step of the constants that are not held at an end of their range.
  Vector Proposed(const Vector& at, double damping) const {
    std::vector<Eigen::Index> free;
    for (Eigen::Index j = 0; j < size_; ++j) {
      if (!IsHeld(at, j)) free.push_back(j);
    }
    Matrix curvature = curvature_(free, free);
    const Vector gradient = gradient_(free);
    for (Eigen::Index j = 0; j < curvature.rows(); ++j) {
      curvature(j, j) += damping * std::max(curvature(j, j), 1e-12);
    }
    const Vector step = curvature.ldlt().solve(-gradient);
    Vector next = at;
    for (size_t f = 0; f < free.size(); ++f) {
      const auto j = free[f];
      next[j] = std::clamp(at[j] + step[static_cast<Eigen::Index>(f)],
                           scale_.Lowest(j), scale_.Highest(j));
    }
    return next;
  }

  // At an end of its range, and the loss falls beyond it.
  bool IsHeld(const Vector& at, Eigen::Index j) const {
    return (at[j] <= scale_.Lowest(j) && gradient_[j] > 0) ||
           (at[j] >= scale_.Highest(j) && gradient_[j] < 0);
  }

  void Report(const Vector& at, LeastSquaresFit& fit) const {
    const double freedom = std::max<double>(
        1, static_cast<double>(count_) - static_cast<double>(size_));
    const double variance = 2 * fit.loss / freedom;
    // What the residuals do not depend on has no error; the others share one
    // covariance.
    std::vector<Eigen::Index> seen;
    for (Eigen::Index j = 0; j < size_; ++j) {
      if (curvature_(j, j) > 0) seen.push_back(j);
    }
    const Matrix information = curvature_(seen, seen);
    const Matrix covariance = information.ldlt().solve(
        Matrix::Identity(information.rows(), information.cols()));
    for (size_t j = 0; j < constants_.size(); ++j) {
      FittedConstant constant;
      constant.value = scale_.ToValue(j, at[j]);
      constant.at_bound = constant.value == constants_[j].lowest ||
                          constant.value == constants_[j].highest;
      constant.error = std::numeric_limits<double>::quiet_NaN();
      fit.constants.push_back(constant);
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto at_seen = static_cast<Eigen::Index>(i);
      FittedConstant& constant = fit.constants[seen[i]];
      constant.error =
          std::sqrt(variance * std::max(0.0, covariance(at_seen, at_seen))) *
          scale_.Slope(seen[i], constant.value);
    }
  }

  const absl::Span<const Constant> constants_;
  const Scale scale_;
  const Eigen::Index count_;
  const Eigen::Index size_;
  const Residuals residuals_;
  const LeastSquaresOptions& options_;
  Matrix curvature_;
  Vector gradient_;
};

}  // namespace

absl::StatusOr<LeastSquaresFit> FitLeastSquares(
    absl::Span<const Constant> constants, size_t count, Residuals residuals,
    const LeastSquaresOptions& options) {
  absl::Status status = CheckConstants(constants);
  if (!status.ok()) return status;
  return Fitter(constants, count, residuals, options).Run();
}

}  // namespace lmsimbench::calibrate
