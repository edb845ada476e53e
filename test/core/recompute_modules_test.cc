#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lmsimbench/legality.h"
#include "test/core/model_examples.h"

namespace lmsimbench {
namespace {

std::vector<Violation> ViolationsOf(const ParallelConfig& config) {
  Workload workload;
  workload.model = Llama2_7B();
  return FindViolations(workload, config, 1);
}

ParallelConfig Selective(const std::string& modules) {
  ParallelConfig config;
  config.recompute = Recompute::kSelective;
  config.recompute_modules = modules;
  return config;
}

TEST_CASE("a module that is not known is named, with the nearest that is") {
  const auto violations = ViolationsOf(Selective("norm-atention-mlp"));
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].message ==
        "recompute_modules 'norm-atention-mlp' names 'atention'; known are "
        "attention, norm, activation, mlp; nearest: recompute_modules "
        "norm-attention-mlp");
}

TEST_CASE("a module that is near to none goes") {
  Workload workload;
  workload.model = Llama2_7B();
  CHECK(*NearestLegal(workload, Selective("everything"), 1) == Selective(""));
}

TEST_CASE("an empty name is no module") {
  for (const char* odd : {"-", "norm-", "-norm", "norm--mlp"}) {
    CAPTURE(odd);
    const auto violations = ViolationsOf(Selective(odd));
    REQUIRE(violations.size() == 1);
    CHECK(violations[0].rule == "recompute modules are known");
  }
  CHECK(ViolationsOf(Selective("")).empty());
  CHECK(ViolationsOf(Selective("attention-norm-activation-mlp")).empty());
}

}  // namespace
}  // namespace lmsimbench
