// A cost model tested on measured latencies, as part of an ordinary test run.
//
// To do so with a model of your own: derive it from lmsimbench::CostModel
// (my_cost_model.h), choose measured rows by a filter, and say how far it may
// be off. What fails prints which limit is broken, the ten worst rows and the
// figures of all of them. Rows of split "test" are for testing; a model whose
// constants were fitted on rows of split "fit" looks better there than it is.
//
// Run with "[wrong]" it tests a model with a mistake, to show such a failure.

#include "lmsimbench/testing_catch2.h"
#include "my_cost_model.h"

namespace {

using lmsimbench::CollectiveKind;
using lmsimbench::ForEachMeasured;
using lmsimbench::MeasuredFilter;
using lmsimbench::MeasuredRow;
using lmsimbench::OperatorKind;
using lmsimbench::Precision;
using lmsimbench::PredictsWithin;
using lmsimbench::Tolerance;
using lmsimbench::WithinTolerance;

// Measured on the accelerator that the constants are for.
const MeasuredFilter kA100 =
    MeasuredFilter().Platform("a100-sxm4-80g").Split("test");

// Messages that are long enough for their bandwidth to matter.
bool IsLarge(const MeasuredRow& row) {
  return std::get<lmsimbench::SpannedCollective>(row.question)
             .collective.bytes >= (8 << 20);
}

const MeasuredFilter kLargeAllReduce = kA100.Kind(CollectiveKind::kAllReduce)
                                           .Nodes(1)
                                           .Library("NCCL")
                                           .Where(IsLarge);

TEST_CASE("Matrix multiplications are within 10 % on average") {
  CHECK_THAT(MyCostModel(),
             PredictsWithin("gemms", kA100.In(Precision::kBf16),
                            Tolerance().Gmae(0.10).P90(0.20).Factor(2)));
}

TEST_CASE("Attention is within 15 % on average, forward") {
  CHECK_THAT(MyCostModel(),
             PredictsWithin("operators", kA100.Kind(OperatorKind::kAttention),
                            Tolerance().Gmae(0.15).Bias(0.10)));
}

TEST_CASE("All-reduce of large messages is within 20 % on average") {
  const auto errors =
      ForEachMeasured("collectives", kLargeAllReduce, MyCostModel());
  CHECK_THAT(errors, WithinTolerance(Tolerance().Gmae(0.20).P90(0.40)));
}

TEST_CASE("No large all-reduce is off by a factor of two") {
  const absl::Status asked =
      ForEachMeasured("collectives", kLargeAllReduce, MyCostModel(),
                      [](const MeasuredRow& row) {
                        INFO(row.shape << " in row " << row.row);
                        CHECK(row.Factor() < 2);
                      });
  CHECK(asked.ok());
}

TEST_CASE("All-reduce with the factor of the ring forgotten", "[.wrong]") {
  CHECK_THAT(WrongCostModel(),
             PredictsWithin("collectives", kLargeAllReduce,
                            Tolerance().Gmae(0.20).P90(0.40)));
}

}  // namespace
