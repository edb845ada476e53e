#include <cmath>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "lib/profile/view_row.h"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/testing.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

Bundle Embedded() {
  auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  return *bundle;
}

// Rows of a view that have a latency, no flag, and for which `holds`.
template <typename Holds>
std::set<size_t> Scan(const std::string& name, Holds holds) {
  const Bundle bundle = Embedded();
  const ProfileView view = *bundle.View(name);
  std::set<size_t> rows;
  for (size_t i = 0; i < view.rows(); ++i) {
    const ViewRow row(view, i);
    if (row.Number("latency_us") > 0 &&
        !absl::StrContains(row.Text("notes"), "FLAG") && holds(row)) {
      rows.insert(i);
    }
  }
  REQUIRE_FALSE(rows.empty());
  return rows;
}

std::set<size_t> Asked(const std::string& view, const MeasuredFilter& filter) {
  const auto errors = ForEachMeasured(
      view, filter, FixedModel({1e-3, Evidence::kAnalytic}, "a millisecond"));
  INFO(errors.status().ToString());
  REQUIRE(errors.ok());
  CHECK(errors->view_rows == errors->left_out + errors->UnusableRows() +
                                 static_cast<int64_t>(errors->rows.size()));
  std::set<size_t> rows;
  for (const MeasuredRow& row : errors->rows) rows.insert(row.row);
  return rows;
}

TEST_CASE("Every measured matrix multiplication is asked") {
  const auto rows = Scan("gemms", [](const ViewRow& row) {
    return row.Count("m") > 0 && row.Count("n") > 0 && row.Count("k") > 0;
  });
  CHECK(Asked("gemms", MeasuredFilter()) == rows);
}

TEST_CASE("Every collective with bytes, a group and its nodes is asked") {
  const auto rows = Scan("collectives", [](const ViewRow& row) {
    return row.Count("bytes") > 0 && row.Count("group_size") > 1 &&
           row.Count("nodes") > 0;
  });
  CHECK(Asked("collectives", MeasuredFilter()) == rows);
}

TEST_CASE("Every large all-reduce in a node is asked") {
  const auto rows = Scan("collectives", [](const ViewRow& row) {
    return row.Text("collective") == "all_reduce" && row.Count("nodes") == 1 &&
           row.Count("bytes") >= (1 << 20) && row.Count("group_size") == 8 &&
           row.Text("split") == "test";
  });
  CHECK(Asked("collectives", MeasuredFilter()
                                 .Split("test")
                                 .Kind(CollectiveKind::kAllReduce)
                                 .Nodes(1)
                                 .GroupSize(8)
                                 .Where([](const MeasuredRow& row) {
                                   return std::get<SpannedCollective>(
                                              row.question)
                                              .collective.bytes >= (1 << 20);
                                 })) == rows);
}

TEST_CASE("Every measured norm and fused attention core is asked") {
  const auto norms = Scan("operators", [](const ViewRow& row) {
    const std::string op = row.Text("op");
    // One source writes tensors: those of several are no rows and width.
    return (op == "layernorm" || op == "layernorm_final" || op == "rmsnorm") &&
           row.Text("dtype") != "unstated" &&
           !absl::StrContains(row.Text("shape"), "|");
  });
  CHECK(Asked("operators", MeasuredFilter().Kind(OperatorKind::kNorm)) ==
        norms);
  const auto attention = Scan("operators", [](const ViewRow& row) {
    return absl::StartsWith(row.Text("op"), "attention_") &&
           absl::StrContains(row.Text("shape"), "s_q=");
  });
  CHECK(Asked("operators", MeasuredFilter().Kind(OperatorKind::kAttention)) ==
        attention);
}

TEST_CASE("Every measured matrix multiplication of several experts is asked") {
  const auto rows = Scan("operators", [](const ViewRow& row) {
    return row.Text("op") == "grouped_gemm";
  });
  CHECK(rows.size() > 50);
  CHECK(Asked("operators", MeasuredFilter().Kind(OperatorKind::kExpertUp)) ==
        rows);
}

TEST_CASE("The figures of the default model are finite in every category") {
  const Bundle bundle = Embedded();
  const auto model = MakeDefaultCostModel(bundle);
  REQUIRE(model.ok());
  for (const char* view : {"gemms", "operators", "collectives"}) {
    const auto errors =
        ForEachMeasured(bundle, view, MeasuredFilter(), **model);
    INFO(view << ": " << errors.status().ToString());
    REQUIRE(errors.ok());
    CHECK(errors->all.answered > 1000);
    CHECK(errors->splits.size() == 2);
    for (const ErrorFigures& figures : errors->categories) {
      INFO(view << ": " << figures.name);
      // What is wholly refused, for a figure that its platform lacks.
      if (figures.answered == 0) continue;
      for (double figure : {figures.gmae, figures.geometric_mean_ratio,
                            figures.mape, figures.bias, figures.median,
                            figures.p90, figures.worst, figures.worst_factor}) {
        CHECK(std::isfinite(figure));
      }
    }
    // What is refused says of which figure it is for.
    for (const MeasuredRow& row : errors->rows) {
      if (!row.answered()) CHECK(absl::StrContains(row.refusal, "states no"));
    }
  }
}

TEST_CASE("Rows are shown one by one") {
  int rows = 0;
  const absl::Status status =
      ForEachMeasured("gemms", MeasuredFilter().Source("deepbench_v100"),
                      FixedModel({1e-3, Evidence::kAnalytic}, "a millisecond"),
                      [&](const MeasuredRow& row) {
                        CHECK(row.source == "deepbench_v100");
                        CHECK(row.answered());
                        ++rows;
                      });
  CHECK(status.ok());
  CHECK(rows > 100);
  CHECK(absl::IsNotFound(ForEachMeasured(
      "gemms", MeasuredFilter().Source("deepbench"),
      FixedModel({1e-3, Evidence::kAnalytic}, "a millisecond"),
      [](const MeasuredRow&) { FAIL("nothing is to be shown"); })));
}

}  // namespace
}  // namespace lmsimbench
