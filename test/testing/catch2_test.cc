// First, so that it is seen to need nothing before it.
#include "lmsimbench/testing_catch2.h"
// Behind it.
#include "lmsimbench/lookup.h"
#include "test/cost/fixed_model.h"
#include "test/testing/hand_built.h"

namespace lmsimbench {
namespace {

absl::StatusOr<CostErrors> Doubled() {
  const HandBuilt view = Gemms({1, 2}, {100, 100});
  return ForEachMeasured(view.View(), Here(), MeasuredFilter(),
                         FixedModel({200e-6, Evidence::kAnalytic}, "double"));
}

TEST_CASE("Errors match tolerances that they keep, and no others") {
  CHECK_THAT(Doubled(), WithinTolerance(Tolerance().Factor(2.1)));
  CHECK_THAT(Doubled(), !WithinTolerance(Tolerance().Factor(1.9)));
  CHECK_THAT(*Doubled(), WithinTolerance(Tolerance().Factor(2.1)));
}

TEST_CASE("What does not match is described by the message of the check") {
  const auto matcher = WithinTolerance(Tolerance().Factor(1.9));
  const auto errors = Doubled();
  CHECK_FALSE(matcher.match(errors));
  CHECK(matcher.describe() ==
        "\n" + Check(*errors, Tolerance().Factor(1.9)).message);
}

TEST_CASE("A check that could not be made does not match") {
  const auto matcher = WithinTolerance(Tolerance());
  CHECK_FALSE(matcher.match(absl::NotFoundError("no such rows")));
  CHECK(matcher.describe() == "no check: NOT_FOUND: no such rows");
}

TEST_CASE("A cost model matches by its errors on the embedded bundle") {
  // Ten seconds for each: far too slow, but all is answered.
  const FixedModel slow({10, Evidence::kAnalytic}, "slow");
  const MeasuredFilter filter =
      MeasuredFilter().Platform("a100-sxm4-80g").Split("test");
  CHECK_THAT(slow, PredictsWithin("gemms", filter, Tolerance()));
  CHECK_THAT(slow, !PredictsWithin("gemms", filter, Tolerance().Gmae(1)));
  const auto no_view = PredictsWithin("gems", filter, Tolerance());
  CHECK_FALSE(no_view.match(slow));
  CHECK(no_view.describe().find("no check: NOT_FOUND") == 0);
}

TEST_CASE("What is matched is printed by its name") {
  CHECK(Catch::Detail::stringify(FixedModel(Cost{}, "slow")) ==
        "cost model 'slow'");
  CHECK(Catch::Detail::stringify(Doubled()) == "errors of cost model 'double'");
  CHECK(Catch::Detail::stringify(*Doubled()) ==
        "errors of cost model 'double'");
}

}  // namespace
}  // namespace lmsimbench
