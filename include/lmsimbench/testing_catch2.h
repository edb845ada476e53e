#pragma once

#include <string>
#include <type_traits>
#include <utility>

#if __has_include(<catch2/matchers/catch_matchers.hpp>)
#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/testing.h"

/// \file
/// The checks of `testing.h` as matchers of Catch2, version 2 or 3:
///
///     CHECK_THAT(MyModel(), lmsimbench::PredictsWithin(
///         "gemms", MeasuredFilter().Split("test"), Tolerance().Gmae(0.15)));
///
/// or, where the errors are wanted for more,
///
///     const auto errors = ForEachMeasured("gemms", filter, model);
///     CHECK_THAT(errors, WithinTolerance(Tolerance().Gmae(0.15)));
///
/// What fails prints `ToleranceCheck::message`. Catch2 breaks lines of more
/// than 80 characters; where names are long, define
/// `CATCH_CONFIG_CONSOLE_WIDTH` as 120.

namespace lmsimbench {
namespace catch2 {

#if __has_include(<catch2/matchers/catch_matchers.hpp>)
template <typename T>
using MatcherBase = Catch::Matchers::MatcherBase<T>;
#else
template <typename T>
using MatcherBase = Catch::MatcherBase<T>;
#endif

/// What the two matchers have in common: the last check in words.
inline bool Matches(const absl::StatusOr<CostErrors>& errors,
                    const Tolerances& tolerances, std::string& message) {
  if (!errors.ok()) {
    message = "no check: " + errors.status().ToString();
    return false;
  }
  ToleranceCheck check = Check(*errors, tolerances);
  // Behind what is matched, on lines of its own.
  message = "\n" + std::move(check.message);
  return check.ok();
}

/// Matches errors within tolerances; no errors, for a status, do not match.
class WithinToleranceMatcher : public MatcherBase<absl::StatusOr<CostErrors>> {
 public:
  explicit WithinToleranceMatcher(Tolerances tolerances)
      : tolerances_(std::move(tolerances)) {}

  bool match(const absl::StatusOr<CostErrors>& errors) const override {
    return Matches(errors, tolerances_, message_);
  }
  std::string describe() const override { return message_; }

 private:
  Tolerances tolerances_;
  mutable std::string message_ = "is within tolerance";
};

/// Matches a cost model whose errors on measured rows are within tolerances.
class PredictsWithinMatcher : public MatcherBase<CostModel> {
 public:
  PredictsWithinMatcher(std::string view, MeasuredFilter filter,
                        Tolerances tolerances)
      : view_(std::move(view)),
        filter_(std::move(filter)),
        tolerances_(std::move(tolerances)) {}

  bool match(const CostModel& model) const override {
    return Matches(ForEachMeasured(view_, filter_, model), tolerances_,
                   message_);
  }
  std::string describe() const override { return message_; }

 private:
  std::string view_;
  MeasuredFilter filter_;
  Tolerances tolerances_;
  mutable std::string message_ = "predicts within tolerance";
};

}  // namespace catch2

/// Matches `CostErrors`, or a `StatusOr` of them, that keep the tolerances.
inline catch2::WithinToleranceMatcher WithinTolerance(Tolerances tolerances) {
  return catch2::WithinToleranceMatcher(std::move(tolerances));
}

/// Matches a `CostModel` that keeps the tolerances on the rows of a view of the
/// embedded bundle that the filter lets through.
inline catch2::PredictsWithinMatcher PredictsWithin(absl::string_view view,
                                                    MeasuredFilter filter,
                                                    Tolerances tolerances) {
  return catch2::PredictsWithinMatcher(std::string(view), std::move(filter),
                                       std::move(tolerances));
}

}  // namespace lmsimbench

namespace Catch {

/// \{ What is matched, by name: all else stands in the message.
template <typename Model>
struct StringMaker<Model, typename std::enable_if<std::is_base_of<
                              lmsimbench::CostModel, Model>::value>::type> {
  static std::string convert(const Model& model) {
    return "cost model '" + model.name() + "'";
  }
};
template <>
struct StringMaker<lmsimbench::CostErrors> {
  static std::string convert(const lmsimbench::CostErrors& errors) {
    return "errors of cost model '" + errors.model + "'";
  }
};
template <>
struct StringMaker<absl::StatusOr<lmsimbench::CostErrors>> {
  static std::string convert(
      const absl::StatusOr<lmsimbench::CostErrors>& errors) {
    return errors.ok() ? StringMaker<lmsimbench::CostErrors>::convert(*errors)
                       : "errors of a cost model";
  }
};
/// \}

}  // namespace Catch
