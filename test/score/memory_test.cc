#include "lib/score/memory.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "lib/score/configuration.h"
#include "test/score/cases.h"

namespace lmsimbench::score {
namespace {

Answer Peak(double bytes, Verdict verdict = Verdict::kNotAnswered) {
  Answer answer = Answered(1, verdict);
  answer.peak_memory_bytes = bytes;
  return answer;
}

TEST_CASE("a configuration fits up to the capacity, margin included") {
  CHECK(Judge(Peak(80), 80, 0) == Judgement::kFits);
  CHECK(Judge(Peak(81), 80, 0) == Judgement::kDoesNotFit);
  CHECK(Judge(Peak(80), 80, 0.1) == Judgement::kDoesNotFit);
  CHECK(Judge(Peak(64), 80, 0.25) == Judgement::kFits);
}

TEST_CASE("without peak or capacity the simulator's own verdict stands") {
  CHECK(Judge(Peak(kNoNumber, Verdict::kFits), 80, 0) == Judgement::kFits);
  CHECK(Judge(Peak(10, Verdict::kDoesNotFit), kNoNumber, 0) ==
        Judgement::kDoesNotFit);
  CHECK(Judge(Peak(kNoNumber), 80, 0) == Judgement::kNone);
  CHECK(Judge(Answer(), 80, 0) == Judgement::kNone);
}

TEST_CASE("what is called illegal is not said to fit") {
  CHECK(Judge(Peak(10, Verdict::kIllegal), 80, 0) == Judgement::kDoesNotFit);
}

TEST_CASE("figures of a verdict table follow their definitions") {
  VerdictTable table;
  table.fits_ran = 6;
  table.refused_ran = 2;
  table.fits_failed = 1;
  table.refused_failed = 3;
  const VerdictFigures figures = FiguresOf(table, 5, 1);
  CHECK(figures.false_fit == Approx(1.0 / 4));
  CHECK(figures.false_refusal == Approx(2.0 / 8));
  CHECK(figures.precision == Approx(3.0 / 5));
  CHECK(figures.recall == Approx(3.0 / 4));
  CHECK(figures.balanced_accuracy == Approx((0.75 + 0.75) / 2));
  CHECK(figures.matthews ==
        Approx((3.0 * 6 - 2.0 * 1) / std::sqrt(5.0 * 7 * 8 * 4)));
  CHECK(figures.cost == Approx((5.0 * 1 + 2) / 12));
}

TEST_CASE("without both kinds of rows all but the share there is undefined") {
  VerdictTable table;
  table.fits_ran = 3;
  table.refused_ran = 1;
  const VerdictFigures figures = FiguresOf(table, 5, 1);
  CHECK(figures.false_refusal == Approx(0.25));
  CHECK(std::isnan(figures.false_fit));
  CHECK(std::isnan(figures.precision));
  CHECK(std::isnan(figures.recall));
  CHECK(std::isnan(figures.balanced_accuracy));
  CHECK(std::isnan(figures.matthews));
  CHECK(std::isnan(figures.cost));
}

TEST_CASE("where nothing is refused precision and Matthews are undefined") {
  VerdictTable table;
  table.fits_ran = 3;
  table.fits_failed = 1;
  const VerdictFigures figures = FiguresOf(table, 5, 1);
  CHECK(std::isnan(figures.precision));
  CHECK(std::isnan(figures.matthews));
  CHECK(figures.recall == 0);
  CHECK(figures.balanced_accuracy == Approx(0.5));
}

TEST_CASE("peaks are compared within one scope only") {
  MeasuredRun allocated = Run("a", 1);
  allocated.peak_memory_bytes = 50;
  allocated.memory_scope = MemoryScope::kAllocated;
  MeasuredRun process = Run("b", 1);
  process.peak_memory_bytes = 60;
  process.memory_scope = MemoryScope::kProcess;
  const Answer answer = Peak(40);
  const Answer none;
  Setting setting;
  setting.rows = {
      {&allocated, &answer, 0}, {&allocated, &none, 1}, {&process, &answer, 2}};
  const Peaks peaks = PeaksOf(setting, MemoryScope::kAllocated);
  CHECK(peaks.measured == 2);
  REQUIRE(peaks.pairs.size() == 1);
  CHECK(peaks.pairs.measured[0] == 50);
}

TEST_CASE("the optimum is lost where the best configuration is refused") {
  Configuration best, other;
  best.measured = 1;
  other.measured = 2;
  other.judgement = Judgement::kFits;
  best.judgement = Judgement::kDoesNotFit;
  CHECK(KeptOf({best, other}).lost_optimum == 1);
  CHECK(KeptOf({best, other}).kept == 1);
  CHECK(KeptOf({best, other}).judged == 2);
  best.judgement = Judgement::kFits;
  CHECK(KeptOf({best, other}).lost_optimum == 0);
  // Of one configuration there is no optimum; one not judged is not lost.
  CHECK(std::isnan(KeptOf({best}).lost_optimum));
  best.judgement = Judgement::kNone;
  CHECK(std::isnan(KeptOf({best, other}).lost_optimum));
}

TEST_CASE("of several best configurations one kept is enough") {
  Configuration kept, refused;
  kept.measured = refused.measured = 1;
  kept.judgement = Judgement::kFits;
  refused.judgement = Judgement::kDoesNotFit;
  CHECK(KeptOf({refused, kept}).lost_optimum == 0);
}

}  // namespace
}  // namespace lmsimbench::score
