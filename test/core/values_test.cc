#include <catch2/catch.hpp>

#include "absl/hash/hash.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"
#include "test/core/random_values.h"

namespace lmsimbench {
namespace {

TEMPLATE_TEST_CASE("equal values hash alike and a changed field shows", "",
                   ModelSpec, Workload, System, ParallelConfig, Prediction) {
  RandomValues random(20);
  for (int i = 0; i < 500; ++i) {
    TestType value;
    random.Fill(value);
    TestType copy = value;
    REQUIRE(copy == value);
    REQUIRE(absl::HashOf(copy) == absl::HashOf(value));

    // Changes the last field that has another value in a second random value.
    TestType other;
    random.Fill(other);
    TestType changed = value;
    bool differs = false;
    TestType::VisitFields(
        [&differs](const char*, auto& field, const auto& from) {
          if (differs || SameField(field, from)) return;
          field = from;
          differs = true;
        },
        changed, other);
    REQUIRE(differs == (changed != value));
  }
}

TEST_CASE("a missing number equals a missing number whatever its bits") {
  Accelerator a;
  Accelerator b;
  a.clock_hz = std::nan("1");
  b.clock_hz = -std::nan("2");
  CHECK(a == b);
  CHECK(absl::HashOf(a) == absl::HashOf(b));
  b.clock_hz = 0;
  CHECK(a != b);
}

TEST_CASE("a name is read back as its value, and no other text is") {
  for (size_t i = 0; i < std::size(EnumNames<Precision>::kNames); ++i) {
    Precision read = Precision::kNotStated;
    CHECK(ParseName(EnumNames<Precision>::kNames[i], read));
    CHECK(read == static_cast<Precision>(i));
  }
  Precision untouched = Precision::kBf16;
  CHECK_FALSE(ParseName("BF16", untouched));
  CHECK(untouched == Precision::kBf16);
  CHECK(Name(static_cast<Precision>(200)) == "invalid");
}

TEST_CASE("the width of a head is stated or follows from the hidden width") {
  ModelSpec model;
  CHECK(HeadDim(model) == kNoCount);
  model.hidden = 4608;
  model.heads = 32;
  CHECK(HeadDim(model) == 144);
  model.head_dim = 128;  // Gemma-2-27B: independent of the hidden width
  CHECK(HeadDim(model) == 128);
}

}  // namespace
}  // namespace lmsimbench
