#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/evidence.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/profile_view.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

/// \file
/// A cost model against measured latencies, in an ordinary test. With any test
/// framework:
///
///     const auto errors = ForEachMeasured(
///         "gemms", MeasuredFilter().Platform("a100-sxm4-80g").Split("test"),
///         MyModel());
///     ASSERT_TRUE(errors.ok()) << errors.status();
///     const ToleranceCheck check = Check(*errors, Tolerance().Gmae(0.15));
///     EXPECT_TRUE(check.ok()) << check.message;
///
/// `testing_catch2.h` has the same as matchers of Catch2. What stands here lies
/// in `lmsimbench` itself, not in a namespace `testing`, which would hide that
/// of GoogleTest.

namespace lmsimbench {

/// What a row of a measured view asks of a cost model.
using MeasuredQuestion = std::variant<Operator, SpannedCollective>;

/// One measured row, and what a cost model says of it.
struct MeasuredRow {
  /// Index into the view. In the CSV of the view it stands in line row + 2.
  size_t row = 0;
  std::string source;
  std::string platform;
  /// "fit": may have been used to fit a model; "test": may not.
  std::string split;
  /// "matmul bf16", "attention forward", "norm input gradient", "all_reduce in
  /// a node", "all_reduce between nodes"…
  std::string category;
  /// The shape in a phrase: "bf16 4096 x 12288 x 4096", "64 MiB, 8 ranks".
  std::string shape;
  MeasuredQuestion question;
  /// What ran a collective, "NCCL 2.29.2"; empty for an operator.
  std::string library;
  /// What the source says of the measurement, in its words.
  std::string notes;
  /// Rows with one number ask the same of the same platform: the same thing,
  /// measured again.
  size_t repeats = 0;

  double measured_s = kNoNumber;
  /// NaN where the model does not answer.
  double predicted_s = kNoNumber;
  Evidence evidence = Evidence::kNotAnswered;
  /// Why the model refuses; empty where it answers or leaves the row open.
  std::string refusal;

  bool answered() const { return evidence != Evidence::kNotAnswered; }
  /// Signed relative error: (predicted - measured) / measured; NaN if not
  /// answered.
  double Error() const { return (predicted_s - measured_s) / measured_s; }
  /// How far off in either direction: the larger of predicted / measured and
  /// measured / predicted; infinite for 0 s, NaN if not answered.
  double Factor() const;
};

/// Which rows a check is about. A condition that is not given holds for every
/// row; one that is given several times holds for each of its values. Each
/// function returns a copy with a condition more:
///
///     MeasuredFilter().Split("test").Kind(CollectiveKind::kAllReduce)
struct MeasuredFilter {
  std::vector<std::string> sources;
  std::vector<std::string> platforms;
  std::vector<std::string> splits;
  std::vector<Computation> computations;
  std::vector<OperatorKind> operator_kinds;
  std::vector<OperatorPass> passes;
  std::vector<Precision> precisions;
  std::vector<CollectiveKind> collective_kinds;
  std::vector<int64_t> group_sizes;
  std::vector<int64_t> nodes;
  /// What the row's library of collectives contains: "NCCL".
  std::vector<std::string> libraries;
  /// Also rows whose figure is doubted by those who wrote it down (FLAG in the
  /// notes).
  bool with_flagged = false;
  /// A condition of one's own, asked before the model is: the prediction is
  /// missing.
  std::function<bool(const MeasuredRow&)> where;
  /// The categories in which errors are gathered, where they are to be others
  /// than `MeasuredRow::category` says.
  std::function<std::string(const MeasuredRow&)> category;

  MeasuredFilter Source(std::string name) const {
    return With(&MeasuredFilter::sources, std::move(name));
  }
  MeasuredFilter Platform(std::string name) const {
    return With(&MeasuredFilter::platforms, std::move(name));
  }
  MeasuredFilter Split(std::string name) const {
    return With(&MeasuredFilter::splits, std::move(name));
  }
  MeasuredFilter Kind(Computation computation) const {
    return With(&MeasuredFilter::computations, computation);
  }
  MeasuredFilter Kind(OperatorKind kind) const {
    return With(&MeasuredFilter::operator_kinds, kind);
  }
  MeasuredFilter Kind(CollectiveKind kind) const {
    return With(&MeasuredFilter::collective_kinds, kind);
  }
  MeasuredFilter Pass(OperatorPass pass) const {
    return With(&MeasuredFilter::passes, pass);
  }
  MeasuredFilter In(Precision precision) const {
    return With(&MeasuredFilter::precisions, precision);
  }
  MeasuredFilter GroupSize(int64_t members) const {
    return With(&MeasuredFilter::group_sizes, members);
  }
  MeasuredFilter Nodes(int64_t count) const {
    return With(&MeasuredFilter::nodes, count);
  }
  MeasuredFilter Library(std::string part) const {
    return With(&MeasuredFilter::libraries, std::move(part));
  }
  MeasuredFilter Flagged() const {
    MeasuredFilter filter = *this;
    filter.with_flagged = true;
    return filter;
  }
  MeasuredFilter Where(std::function<bool(const MeasuredRow&)> holds) const {
    MeasuredFilter filter = *this;
    filter.where = std::move(holds);
    return filter;
  }
  MeasuredFilter By(
      std::function<std::string(const MeasuredRow&)> category_of) const {
    MeasuredFilter filter = *this;
    filter.category = std::move(category_of);
    return filter;
  }

 private:
  template <typename T>
  MeasuredFilter With(std::vector<T> MeasuredFilter::*values, T value) const {
    MeasuredFilter filter = *this;
    (filter.*values).push_back(std::move(value));
    return filter;
  }
};

/// The error over some rows. Figures of errors rest on the answered rows and
/// are NaN without one; they are fractions, not percent, and as
/// `spec/metrics.md` of the project defines them.
struct ErrorFigures {
  /// The category or split that the rows are of.
  std::string name;
  int64_t rows = 0;
  int64_t answered = 0;
  /// exp(mean |ln(predicted / measured)|) - 1: over- and under-prediction by
  /// one factor weigh the same.
  double gmae = kNoNumber;
  /// exp(mean ln(predicted / measured)): 1 without bias.
  double geometric_mean_ratio = kNoNumber;
  /// Mean |error|.
  double mape = kNoNumber;
  /// Median of the signed error.
  double bias = kNoNumber;
  /// \{ Of |error|.
  double median = kNoNumber;
  double p90 = kNoNumber;
  double worst = kNoNumber;
  /// \}
  /// The largest `MeasuredRow::Factor`.
  double worst_factor = kNoNumber;
  /// Rows that ask what another of these rows asks, and the GMAE on them of the
  /// model that answers the median of each: no model does better, it is the
  /// noise of the measurements.
  int64_t repeated = 0;
  double noise_gmae = kNoNumber;
};

/// Rows that have something in common, as why they ask nothing.
struct CountedReason {
  std::string reason;
  int64_t rows = 0;
  /// The first of them, as an index into the view.
  size_t first_row = 0;
};

/// How a cost model does on measured rows. A plain value.
struct CostErrors {
  std::string model;
  std::string view;
  /// Rows of the view, and those of them that the filter leaves out.
  int64_t view_rows = 0;
  int64_t left_out = 0;
  /// The rows that the model was asked, in the order of the view.
  std::vector<MeasuredRow> rows;
  /// The remaining rows, which ask nothing: what they describe is no operator
  /// or collective of the pipeline, or a figure is missing. Most rows first.
  /// Conditions on what a row asks do not leave out these: they cannot be told.
  std::vector<CountedReason> unusable;

  ErrorFigures all;
  /// One a split and one a category, by name.
  std::vector<ErrorFigures> splits;
  std::vector<ErrorFigures> categories;

  /// The figures of a category, or null.
  const ErrorFigures* Find(absl::string_view category) const;
  /// Rows in `unusable`.
  int64_t UnusableRows() const;
};

/// \{ Asks a cost model every row of the view "gemms", "operators" or
/// "collectives" that the filter lets through, in one batch a platform.
/// Platforms are those of the bundle (by default the embedded one), or of
/// `platforms`, by name; a row of another is unusable.
///
/// A model that refuses (`IsRefusal`) does not answer; which rows it refuses is
/// found out by asking each alone. NOT_FOUND, with the nearest name where a
/// name is wrong, if no row is left to ask: a check of nothing does not pass.
/// Any other failure of the model, and seconds that are NaN, infinite or
/// negative (INTERNAL), end the check, and name the row. INVALID_ARGUMENT if
/// the view is another one.
absl::StatusOr<CostErrors> ForEachMeasured(const ProfileView& view,
                                           absl::Span<const System> platforms,
                                           const MeasuredFilter& filter,
                                           const CostModel& model);
absl::StatusOr<CostErrors> ForEachMeasured(const Bundle& bundle,
                                           absl::string_view view,
                                           const MeasuredFilter& filter,
                                           const CostModel& model);
absl::StatusOr<CostErrors> ForEachMeasured(absl::string_view view,
                                           const MeasuredFilter& filter,
                                           const CostModel& model);
/// \}

/// Calls `visit(const MeasuredRow&)` for every row that the model was asked, to
/// assert row by row. It may throw, as assertions of test frameworks do.
template <typename Visit>
absl::Status ForEachMeasured(absl::string_view view,
                             const MeasuredFilter& filter,
                             const CostModel& model, Visit&& visit) {
  const absl::StatusOr<CostErrors> errors =
      ForEachMeasured(view, filter, model);
  if (!errors.ok()) return errors.status();
  for (const MeasuredRow& row : errors->rows) visit(row);
  return absl::OkStatus();
}

/// How far a model may be off. NaN: any distance. Fractions, as
/// `ErrorFigures`. Each function returns a copy with one limit set.
struct Tolerance {
  double max_gmae = kNoNumber;
  double max_p90 = kNoNumber;
  /// Of |bias|.
  double max_bias = kNoNumber;
  /// No row further off than this factor, up or down: 2 allows from half to
  /// twice. (A relative error has no such limit downwards: it never falls below
  /// -100 %, not even by a mistake of 10^6.)
  double max_factor = kNoNumber;
  /// Share of the rows that the model has to answer.
  double min_answered = 1;

  Tolerance Gmae(double fraction) const {
    return With(&Tolerance::max_gmae, fraction);
  }
  Tolerance P90(double fraction) const {
    return With(&Tolerance::max_p90, fraction);
  }
  Tolerance Bias(double fraction) const {
    return With(&Tolerance::max_bias, fraction);
  }
  Tolerance Factor(double factor) const {
    return With(&Tolerance::max_factor, factor);
  }
  Tolerance Answered(double share) const {
    return With(&Tolerance::min_answered, share);
  }

 private:
  Tolerance With(double Tolerance::*limit, double value) const {
    Tolerance tolerance = *this;
    tolerance.*limit = value;
    return tolerance;
  }
};

/// A tolerance for every category. One for all, as in `Check(errors,
/// Tolerance().Gmae(0.2))`, is held by each category alone.
struct Tolerances {
  Tolerances() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one tolerance is the rule.
  Tolerances(Tolerance each) : every_category(each) {}

  /// Categories that are not named below.
  Tolerance every_category;
  std::map<std::string, Tolerance> categories;

  /// A copy with the tolerance of one category.
  Tolerances Category(std::string name, Tolerance tolerance) const {
    Tolerances copy = *this;
    copy.categories[std::move(name)] = tolerance;
    return copy;
  }
};

/// One limit that is not kept.
struct BrokenTolerance {
  std::string category;
  /// "GMAE", "90th percentile", "bias", "worst row", "answered", or "rows" for
  /// a category that no row is of.
  std::string limit;
  /// What it allows, and what was found: NaN if nothing is answered.
  double allowed = kNoNumber;
  double found = kNoNumber;
};

/// Whether a model keeps its tolerances.
struct ToleranceCheck {
  std::vector<BrokenTolerance> broken;
  /// For people, a few lines that each end in a line break and are at most 78
  /// characters wide unless a name is long: the broken limits with their
  /// numbers, the ten worst rows of the categories that broke one, the figures
  /// of every category, and what was not answered or not asked.
  std::string message;

  bool ok() const { return broken.empty(); }
};

/// Holds errors against tolerances. A limit on errors is broken where no row is
/// answered, and so is a tolerance for a category that no row is of.
ToleranceCheck Check(const CostErrors& errors, const Tolerances& tolerances);

/// \{ The parts of a message: the figures of all categories and splits with
/// what was not answered or not asked, and the `count` rows furthest off by
/// `MeasuredRow::Factor`, of these categories (all, if there is none). The same
/// errors give the same text.
std::string FiguresText(const CostErrors& errors);
std::string WorstRowsText(const CostErrors& errors, size_t count = 10,
                          absl::Span<const std::string> categories = {});
/// \}

}  // namespace lmsimbench
