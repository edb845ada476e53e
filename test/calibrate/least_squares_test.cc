#include "lib/calibrate/least_squares.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "test/test_support.h"

namespace {

using lmsimbench::calibrate::Constant;
using lmsimbench::calibrate::FitLeastSquares;
using lmsimbench::calibrate::LeastSquaresOptions;

TEST_CASE("Constants that made the data are found") {
  // y = a x^b, seen through its logarithm.
  const auto residuals = [](absl::Span<const double> c,
                            absl::Span<double> r) -> absl::Status {
    for (size_t i = 0; i < r.size(); ++i) {
      const double x = 1.0 + static_cast<double>(i);
      r[i] = std::log(c[0] * std::pow(x, c[1]) / (3.5 * std::pow(x, 0.7)));
    }
    return absl::OkStatus();
  };
  const std::vector<Constant> constants = {{"a", 1, 0.01, 100},
                                           {"b", 0, -2, 2}};
  const auto fit = FitLeastSquares(constants, 20, residuals);
  REQUIRE(fit.ok());
  CHECK(fit->converged);
  CHECK(fit->loss < 1e-12);
  CHECK(fit->loss < fit->initial_loss);
  CHECK(fit->constants[0].value == Approx(3.5).epsilon(1e-5));
  CHECK(fit->constants[1].value == Approx(0.7).epsilon(1e-5));
  CHECK_FALSE(fit->constants[0].at_bound);
}

TEST_CASE("A valley that bends is followed to its end") {
  // Rosenbrock's function.
  const auto residuals = [](absl::Span<const double> c,
                            absl::Span<double> r) -> absl::Status {
    r[0] = 10 * (c[1] - c[0] * c[0]);
    r[1] = 1 - c[0];
    return absl::OkStatus();
  };
  LeastSquaresOptions options;
  options.scale = 1e3;
  options.most_iterations = 500;
  options.tolerance = 1e-14;
  const auto fit = FitLeastSquares({{"x", -1.2, -5, 5}, {"y", 1, -5, 5}}, 2,
                                   residuals, options);
  REQUIRE(fit.ok());
  CHECK(fit->constants[0].value == Approx(1).epsilon(1e-3));
  CHECK(fit->constants[1].value == Approx(1).epsilon(1e-3));
}

TEST_CASE("A few rows that nothing explains do not decide") {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<double> y;
  for (int i = 0; i < 200; ++i) {
    y.push_back(i % 20 == 0 ? 30.0 : std::log(2.0) + noise(random));
  }
  const auto residuals = [&](absl::Span<const double> c,
                             absl::Span<double> r) -> absl::Status {
    for (size_t i = 0; i < r.size(); ++i) r[i] = std::log(c[0]) - y[i];
    return absl::OkStatus();
  };
  const auto fit = FitLeastSquares({{"a", 1, 0.1, 10}}, y.size(), residuals);
  REQUIRE(fit.ok());
  CHECK(fit->constants[0].value == Approx(2).epsilon(0.02));
}

TEST_CASE("The range is never left, and an end of it is told") {
  const auto residuals = [](absl::Span<const double> c,
                            absl::Span<double> r) -> absl::Status {
    CHECK(c[0] <= 2);
    CHECK(c[0] >= 0.5);
    r[0] = c[0] - 5 + c[1];
    r[1] = c[1] - 1;
    return absl::OkStatus();
  };
  LeastSquaresOptions options;
  options.scale = 100;
  const auto fit = FitLeastSquares({{"a", 1, 0.5, 2}, {"b", 0, -9, 9}}, 2,
                                   residuals, options);
  REQUIRE(fit.ok());
  CHECK(fit->constants[0].value == 2);
  CHECK(fit->constants[0].at_bound);
  // What is left is shared by both residuals.
  CHECK(fit->constants[1].value == Approx(2).epsilon(1e-3));
}

TEST_CASE("Where the data say nothing, the expectation stays") {
  const auto residuals = [](absl::Span<const double> c,
                            absl::Span<double> r) -> absl::Status {
    r[0] = std::log(c[0] / 4);
    return absl::OkStatus();
  };
  const auto fit = FitLeastSquares(
      {{"seen", 1, 0.1, 10}, {"unseen", 0.3, 0.1, 1, 0.5}, {"free", 2, 1, 3}},
      1, residuals);
  REQUIRE(fit.ok());
  CHECK(fit->constants[0].value == Approx(4).epsilon(1e-4));
  CHECK(fit->constants[1].value == Approx(0.3));
  CHECK(fit->constants[2].value == Approx(2));
  CHECK(std::isnan(fit->constants[2].error));
}

TEST_CASE("An expectation holds against weak data") {
  const auto residuals = [](absl::Span<const double> c,
                            absl::Span<double> r) -> absl::Status {
    r[0] = std::log(c[0] / 4);
    return absl::OkStatus();
  };
  double last = 4;
  for (const double spread : {10.0, 1.0, 0.3, 0.1}) {
    const auto fit = FitLeastSquares({{"a", 1, 0.1, 10, spread}}, 1, residuals);
    REQUIRE(fit.ok());
    CHECK(fit->constants[0].value < last);
    CHECK(fit->constants[0].value > 1);
    // The pull of the residual and that of the expectation cancel.
    const double scale = LeastSquaresOptions().scale;
    const double away = std::log(fit->constants[0].value);
    const double residual = away - std::log(4.0);
    const double pull = residual / std::hypot(1.0, residual / scale);
    CHECK(pull ==
          Approx(-scale * scale * away / (spread * spread)).epsilon(1e-3));
    last = fit->constants[0].value;
  }
}

TEST_CASE("What cannot be fitted is an error with its reason") {
  const auto none = [](absl::Span<const double>, absl::Span<double> r) {
    for (double& one : r) one = std::nan("");
    return absl::OkStatus();
  };
  const auto fails = [](absl::Span<const double>, absl::Span<double>) {
    return absl::UnimplementedError("no answer");
  };
  CHECK(FitLeastSquares({{"a", 1, 0, 2}}, 1, none).status().code() ==
        absl::StatusCode::kInternal);
  CHECK(FitLeastSquares({{"a", 1, 0, 2}}, 1, fails).status().message() ==
        "no answer");
  const auto range = FitLeastSquares({{"a", 3, 0, 2}}, 1, fails);
  CHECK(range.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(std::string(range.status().message()).find("'a'") != std::string::npos);
}

}  // namespace
