#include "lmsimbench/simulators.h"

#include <catch2/catch.hpp>
#include <string>

namespace lmsimbench {
namespace {

TEST_CASE("every built-in simulator is made under its own name") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  REQUIRE_FALSE(BuiltInSimulators().empty());
  for (const BuiltInSimulator& simulator : BuiltInSimulators()) {
    INFO(simulator.name);
    const auto made = MakeSimulator(simulator.name, *bundle);
    REQUIRE(made.ok());
    CHECK((*made)->name() == simulator.name);
  }
}

TEST_CASE("an unknown simulator is not found, and the nearest is named") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto made = MakeSimulator("calculom", *bundle);
  CHECK(made.status().code() == absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(made.status().message()),
             Catch::Contains("did you mean 'calculon'?"));
}

}  // namespace
}  // namespace lmsimbench
