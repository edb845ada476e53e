#include <limits>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/testing.h"
#include "test/cost/fixed_model.h"
#include "test/testing/hand_built.h"

namespace lmsimbench {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

FixedModel OneMicrosecond() {
  return FixedModel({1e-6, Evidence::kAnalytic}, "one");
}

// Rows of several kinds: which of them a filter lets through shows by number.
HandBuilt Collectives() {
  HandBuilt view("collectives");
  view.Texts("split", {"fit", "test", "test", "fit", "test"})
      .Texts("platform", {"here", "here", "here", "here", "here"})
      .Texts("source_id", {"a", "a", "b", "b", "b"})
      .Texts("collective", {"all_reduce", "all_gather", "all_reduce",
                            "all_reduce", "send_recv"})
      .Texts("library", {"NCCL 2.1", "NCCL 2.1", "my kernel", "NCCL", "NCCL"})
      .Texts("notes", {"", "", "", "on a quiet fabric", ""})
      .Counts("bytes", {1024, 1024, 2048, 4096, 8192})
      .Counts("group_size", {8, 4, 8, 16, 2})
      .Counts("nodes", {1, 1, 1, 2, 2})
      .Numbers("latency_us", {10, 20, 30, 40, 50});
  return view;
}

std::vector<size_t> RowsOf(const HandBuilt& view,
                           const MeasuredFilter& filter) {
  const auto errors =
      ForEachMeasured(view.View(), Here(), filter, OneMicrosecond());
  INFO(errors.status().ToString());
  REQUIRE(errors.ok());
  // Every row of the view is asked, left out, or said to ask nothing.
  CHECK(errors->view_rows == errors->left_out + errors->UnusableRows() +
                                 static_cast<int64_t>(errors->rows.size()));
  std::vector<size_t> rows;
  for (const MeasuredRow& row : errors->rows) rows.push_back(row.row);
  return rows;
}

using Rows = std::vector<size_t>;

TEST_CASE("Every condition of a filter leaves out what it does not hold for") {
  const HandBuilt view = Collectives();
  const MeasuredFilter all;
  CHECK(RowsOf(view, all) == Rows{0, 1, 2, 3, 4});
  CHECK(RowsOf(view, all.Source("b")) == Rows{2, 3, 4});
  CHECK(RowsOf(view, all.Split("fit")) == Rows{0, 3});
  CHECK(RowsOf(view, all.Platform("here")).size() == 5);
  CHECK(RowsOf(view, all.Kind(CollectiveKind::kAllReduce)) == Rows{0, 2, 3});
  CHECK(RowsOf(view, all.GroupSize(8)) == Rows{0, 2});
  CHECK(RowsOf(view, all.Nodes(2)) == Rows{3, 4});
  CHECK(RowsOf(view, all.Library("NCCL")) == Rows{0, 1, 3, 4});
  CHECK(RowsOf(view, all.Where([](const MeasuredRow& row) {
          return row.measured_s > 25e-6;
        })) == Rows{2, 3, 4});
}

TEST_CASE("Values of one condition widen it, several conditions narrow it") {
  const HandBuilt view = Collectives();
  const MeasuredFilter all;
  CHECK(RowsOf(view, all.GroupSize(4).GroupSize(2)) == Rows{1, 4});
  CHECK(RowsOf(view, all.Split("test").Source("b")) == Rows{2, 4});
}

TEST_CASE("A condition leaves the filter that it is made from alone") {
  const MeasuredFilter all;
  const MeasuredFilter some = all.Split("test");
  CHECK(all.splits.empty());
  CHECK(some.splits == std::vector<std::string>{"test"});
}

TEST_CASE("Operators are chosen by what they compute") {
  HandBuilt view("operators");
  view.Texts("platform", 4, "here")
      .Texts("source_id", 4, "bench")
      .Texts("split", 4, "test")
      .Texts("op", {"attention_fwd", "attention_bwd", "rmsnorm", "linear_fwd"})
      .Texts("pass", {"fwd", "bwd", "fwd", "fwd"})
      .Texts("dtype", {"bf16", "bf16", "fp16", "bf16"})
      .Texts("shape", {"b=1;s_q=64;s_kv=64;h_q=4;h_kv=2;d=16;causal=1",
                       "b=1;s_q=64;s_kv=64;h_q=4;h_kv=2;d=16;causal=1",
                       "tokens=64;hidden=32", "tokens=64;in=32;out=16"})
      .Numbers("latency_us", {1, 2, 3, 4});
  const MeasuredFilter all;
  CHECK(RowsOf(view, all.Kind(OperatorKind::kAttention)) == Rows{0, 1});
  CHECK(RowsOf(view, all.Kind(OperatorKind::kAttention)
                         .Pass(OperatorPass::kInputGradient)) == Rows{1});
  CHECK(RowsOf(view, all.Kind(Computation::kMatrixMultiplication)) == Rows{3});
  CHECK(RowsOf(view, all.In(Precision::kFp16)) == Rows{2});
}

TEST_CASE("A row says what is asked, where it comes from and what it took") {
  const HandBuilt view = Collectives();
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneMicrosecond());
  REQUIRE(errors.ok());
  CHECK(errors->model == "one");
  CHECK(errors->view == "collectives");
  const MeasuredRow& row = errors->rows[3];
  CHECK(row.source == "b");
  CHECK(row.platform == "here");
  CHECK(row.split == "fit");
  CHECK(row.library == "NCCL");
  CHECK(row.notes == "on a quiet fabric");
  CHECK(row.category == "all_reduce between nodes");
  CHECK(row.measured_s == Approx(40e-6));
  CHECK(row.predicted_s == Approx(1e-6));
  CHECK(row.evidence == Evidence::kAnalytic);
  const auto& asked = std::get<SpannedCollective>(row.question);
  CHECK(asked.collective.bytes == 4096);
  // Sixteen members on two nodes, which meet in the cluster.
  CHECK(asked.span.members == 16);
  CHECK(asked.span.nodes == 2);
  CHECK(asked.span.members_per_node == 8);
  CHECK(asked.span.level == 1);
}

TEST_CASE("Nodes meet at the innermost level that joins as many") {
  HandBuilt view("collectives");
  view.Texts("split", 3, "test")
      .Texts("platform", 3, "here")
      .Texts("source_id", 3, "a")
      .Texts("collective", 3, "all_reduce")
      .Counts("bytes", {1024, 1024, 1024})
      .Counts("group_size", {16, 32, 64})
      .Counts("nodes", {2, 4, 8})
      .Numbers("latency_us", {10, 20, 30});
  std::vector<System> here = Here();
  here[0].network = {
      {"node", 8, "", 1e9, 0}, {"rail", 2, "", 1e9, 0}, {"pod", 2, "", 1e9, 0}};
  const auto errors =
      ForEachMeasured(view.View(), here, MeasuredFilter(), OneMicrosecond());
  REQUIRE(errors.ok());
  const auto level = [&](size_t row) {
    return std::get<SpannedCollective>(errors->rows[row].question).span.level;
  };
  REQUIRE(errors->rows.size() == 2);
  CHECK(level(0) == 1);
  CHECK(level(1) == 2);
  REQUIRE(errors->unusable.size() == 1);
  CHECK(errors->unusable[0].reason ==
        "no level of the network of 'here' joins 8 nodes");
}

TEST_CASE("A row that asks nothing is counted, with the reason") {
  HandBuilt view("gemms");
  view.Texts("platform", {"here", "here", "here", "there", "here", "here"})
      .Texts("source_id", 6, "bench")
      .Texts("split", 6, "test")
      .Texts("dtype", {"bf16", "bf16", "unstated", "bf16", "bf16", "bf16"})
      .Texts("notes", {"", "", "", "", "", "FLAG=near_peak(0.97)"})
      .Counts("m", {1, 2, 3, 4, -1, 6})
      .Counts("n", {8, 8, 8, 8, 8, 8})
      .Counts("k", {8, 8, 8, 8, 8, 8})
      .Numbers("latency_us", {100, kMissing, 100, 100, 100, 100});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneMicrosecond());
  REQUIRE(errors.ok());
  CHECK(errors->rows.size() == 1);
  CHECK(errors->UnusableRows() == 5);
  std::vector<std::pair<std::string, size_t>> reasons;
  for (const CountedReason& reason : errors->unusable) {
    CHECK(reason.rows == 1);
    reasons.emplace_back(reason.reason, reason.first_row);
  }
  CHECK(reasons == std::vector<std::pair<std::string, size_t>>{
                       {"flagged as doubtful in its notes", 5},
                       {"no latency", 1},
                       {"no m, n and k", 4},
                       {"no precision", 2},
                       {"unknown platform 'there'", 3}});
  CHECK(RowsOf(view, MeasuredFilter().Flagged()) == Rows{0, 5});
}

TEST_CASE("A collective needs bytes, a group and nodes") {
  HandBuilt view("collectives");
  view.Texts("split", 6, "test")
      .Texts("platform", 6, "here")
      .Texts("source_id", 6, "a")
      .Texts("collective", {"all_reduce", "gossip", "all_reduce", "all_reduce",
                            "all_reduce", "all_reduce"})
      .Counts("bytes", {1024, 1024, -1, 1024, 1024, 1024})
      .Counts("group_size", {8, 8, 8, -1, 8, 3})
      .Counts("nodes", {1, 1, 1, 1, -1, 2})
      .Numbers("latency_us", {10, 10, 10, 10, 10, 10});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneMicrosecond());
  REQUIRE(errors.ok());
  CHECK(errors->rows.size() == 1);
  std::vector<std::string> reasons;
  for (const CountedReason& reason : errors->unusable) {
    reasons.push_back(reason.reason);
  }
  CHECK(reasons == std::vector<std::string>{
                       "no bytes", "no collective: 'gossip'",
                       "no group of two or more members", "no number of nodes",
                       "nodes with unequal numbers of members"});
}

TEST_CASE("Reasons that hold for most rows come first") {
  const HandBuilt view = Gemms({1, -1, -1, 4}, {100, 100, 100, kMissing});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneMicrosecond());
  REQUIRE(errors.ok());
  REQUIRE(errors->unusable.size() == 2);
  CHECK(errors->unusable[0].reason == "no m, n and k");
  CHECK(errors->unusable[0].rows == 2);
  CHECK(errors->unusable[0].first_row == 1);
}

TEST_CASE("A check of nothing is NOT_FOUND, with what became of the rows") {
  const HandBuilt view = Gemms({1, -1}, {100, 100});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter().In(Precision::kFp8),
                      OneMicrosecond());
  CHECK(absl::IsNotFound(errors.status()));
  CHECK(std::string(errors.status().message()) ==
        "no row of view 'gemms' is left to ask cost model 'one': of 2 rows the "
        "filter leaves out 1; 1 row: no m, n and k");
}

TEST_CASE("A name that no row has is NOT_FOUND, with the nearest") {
  const HandBuilt view = Gemms({1}, {100});
  const auto message = [&](const MeasuredFilter& filter) {
    const auto errors =
        ForEachMeasured(view.View(), Here(), filter, OneMicrosecond());
    CHECK(absl::IsNotFound(errors.status()));
    return std::string(errors.status().message());
  };
  CHECK(message(MeasuredFilter().Source("bench").Source("bensh")) ==
        "view 'gemms' has no row whose source_id is 'bensh'; nearest: 'bench'");
  CHECK(message(MeasuredFilter().Platform("hare")) ==
        "view 'gemms' has no row whose platform is 'hare'; nearest: 'here'");
  CHECK(message(MeasuredFilter().Split("tests")) ==
        "view 'gemms' has no row whose split is 'tests'; nearest: 'test'");
}

TEST_CASE("Other views are refused by name") {
  const HandBuilt view("ranks");
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneMicrosecond());
  CHECK(absl::IsInvalidArgument(errors.status()));
  CHECK(std::string(errors.status().message()) ==
        "view 'ranks' has no rows that ask a cost model; those that do are "
        "'gemms', 'operators' and 'collectives'");
}

TEST_CASE("Seconds that are no number end the check and name the row") {
  const HandBuilt view = Gemms({1, 2}, {100, 100});
  FixedModel model({1e-6, Evidence::kAnalytic}, "mine");
  model.of_operator = [](const Operator& op) {
    return Cost{op.m == 2 ? kMissing : 1e-6, Evidence::kAnalytic};
  };
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), model);
  CHECK(absl::IsInternal(errors.status()));
  CHECK(std::string(errors.status().message()) ==
        "row 1 of view 'gemms' (source 'bench', platform 'here', matmul bf16 2 "
        "x 64 x 64): cost model 'mine' answers nan seconds (analytic) for not "
        "stated, forward, bf16, 2 x 64 x 64; seconds have to be finite and not "
        "negative");
}

// Refuses shapes of one row; fails as `code` says.
class Picky : public CostModel {
 public:
  explicit Picky(absl::StatusCode code) : CostModel("picky"), code_(code) {}

 private:
  absl::Status DoOperatorCosts(const System&,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    for (size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].m == 1) return absl::Status(code_, "too thin");
      costs[i] = {1e-6, Evidence::kAnalytic};
    }
    return absl::OkStatus();
  }

  absl::StatusCode code_;
};

TEST_CASE("What a model refuses is not answered, the other rows are") {
  const HandBuilt view = Gemms({2, 1, 3}, {100, 100, 100});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      Picky(absl::StatusCode::kUnimplemented));
  REQUIRE(errors.ok());
  CHECK(errors->all.answered == 2);
  CHECK(errors->rows[0].answered());
  CHECK_FALSE(errors->rows[1].answered());
  CHECK(errors->rows[1].refusal == "cost model 'picky': too thin");
  CHECK(errors->rows[2].predicted_s == Approx(1e-6));
}

TEST_CASE("What a model fails at ends the check") {
  const HandBuilt view = Gemms({2, 1, 3}, {100, 100, 100});
  const auto errors = ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                                      Picky(absl::StatusCode::kUnavailable));
  CHECK(errors.status().code() == absl::StatusCode::kUnavailable);
  CHECK(std::string(errors.status().message()) ==
        "row 1 of view 'gemms' (source 'bench', platform 'here', matmul bf16 1 "
        "x 64 x 64): cost model 'picky': too thin");
}

class OneAtATime : public CostModel {
 public:
  OneAtATime() : CostModel("one at a time") {}

 private:
  absl::Status DoOperatorCosts(const System&,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    if (operators.size() > 1) return absl::UnimplementedError("too many");
    costs[0] = {1e-6, Evidence::kAnalytic};
    return absl::OkStatus();
  }
};

TEST_CASE("A model that fails at batches alone is faulty") {
  const HandBuilt view = Gemms({1, 2}, {100, 100});
  const auto errors =
      ForEachMeasured(view.View(), Here(), MeasuredFilter(), OneAtATime());
  CHECK(absl::IsInternal(errors.status()));
  CHECK(
      std::string(errors.status().message()) ==
      "cost model 'one at a time' fails where it is asked 2 rows of platform "
      "'here' at once and answers each alone: cost model 'one at a time': too "
      "many");
}

TEST_CASE("Rows are asked on the system of their platform") {
  HandBuilt view("gemms");
  view.Texts("platform", {"here", "there", "here"})
      .Texts("source_id", 3, "bench")
      .Texts("split", 3, "test")
      .Texts("dtype", 3, "bf16")
      .Counts("m", {1, 2, 3})
      .Counts("n", {8, 8, 8})
      .Counts("k", {8, 8, 8})
      .Numbers("latency_us", {100, 100, 100});
  class OfSystem : public CostModel {
   public:
    OfSystem() : CostModel("of system") {}

   private:
    absl::Status DoOperatorCosts(const System& system,
                                 absl::Span<const Operator>,
                                 absl::Span<Cost> costs) const override {
      for (Cost& cost : costs) {
        cost = {system.name == "here" ? 1e-6 : 2e-6, Evidence::kAnalytic};
      }
      return absl::OkStatus();
    }
  };
  std::vector<System> platforms = Here();
  platforms.push_back(platforms[0]);
  platforms[1].name = "there";
  const auto errors =
      ForEachMeasured(view.View(), platforms, MeasuredFilter(), OfSystem());
  REQUIRE(errors.ok());
  CHECK(errors->rows[0].predicted_s == Approx(1e-6));
  CHECK(errors->rows[1].predicted_s == Approx(2e-6));
  CHECK(errors->rows[2].predicted_s == Approx(1e-6));
}

TEST_CASE("Errors are gathered in categories of one's own") {
  const HandBuilt view = Collectives();
  const auto errors = ForEachMeasured(
      view.View(), Here(), MeasuredFilter().By([](const MeasuredRow& row) {
        return row.category == "all_reduce in a node" ? "mine" : "others";
      }),
      OneMicrosecond());
  REQUIRE(errors.ok());
  REQUIRE(errors->categories.size() == 2);
  CHECK(errors->Find("mine")->rows == 2);
  CHECK(errors->Find("others")->rows == 3);
}

}  // namespace
}  // namespace lmsimbench
