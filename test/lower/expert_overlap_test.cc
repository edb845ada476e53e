#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lib/lower/pass_notation.h"
#include "lib/lower/schedule.h"

namespace lmsimbench::lower {
namespace {

std::string Schedule(ScheduleShape shape, int64_t rank) {
  std::vector<Pass> passes(
      static_cast<size_t>(CountPasses(shape)));
  WriteSchedule(shape, rank, passes.data());
  std::string text;
  for (const Pass& pass : passes) {
    text += PassNotation(pass) + (pass.with_next ? "+" : " ");
  }
  return text;
}

// A pair needs two micro-batches, so each rank is one forward pass further
// ahead.
TEST_CASE("interleaved 1F1B pairs passes where experts communicate beside") {
  ScheduleShape shape;
  shape.schedule = lmsimbench::Schedule::kInterleaved1F1B;
  shape.pp = 2;
  shape.chunks = 2;
  shape.micro_batches = 2;
  shape.group = 2;
  CHECK(Schedule(shape, 1) ==
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 ");
  shape.overlaps_experts = true;
  CHECK(Schedule(shape, 1) ==
        "F0.0 F1.0 F0.1 F1.1+B0.1 B1.1 B0.0 B1.0 ");
  shape.micro_batches = 4;
  CHECK(Schedule(shape, 0) ==
        "F0.0 F1.0 F0.1 F1.1 F2.0 F3.0+B0.1 F2.1+B1.1 F3.1+B0.0 B1.0 B2.1 "
        "B3.1 B2.0 B3.0 ");
}

}  // namespace
}  // namespace lmsimbench::lower
