#include "lib/score/memory.h"

#include <cmath>

namespace lmsimbench::score {

Peaks PeaksOf(const Setting& setting, MemoryScope scope) {
  Peaks peaks;
  for (const Row& row : setting.rows) {
    const double measured = row.run->peak_memory_bytes;
    if (!IsStated(measured) || row.run->memory_scope != scope) continue;
    ++peaks.measured;
    // Nothing needs no memory at all: zero is no answer to compare with.
    if (row.answer->peak_memory_bytes > 0) {
      peaks.pairs.Add(measured, row.answer->peak_memory_bytes);
    }
  }
  return peaks;
}

Judgement Judge(const Answer& answer, double capacity_bytes, double margin) {
  if (answer.verdict == Verdict::kIllegal) return Judgement::kDoesNotFit;
  if (IsStated(answer.peak_memory_bytes) && IsStated(capacity_bytes)) {
    return answer.peak_memory_bytes * (1 + margin) <= capacity_bytes
               ? Judgement::kFits
               : Judgement::kDoesNotFit;
  }
  switch (answer.verdict) {
    case Verdict::kFits:
      return Judgement::kFits;
    case Verdict::kDoesNotFit:
      return Judgement::kDoesNotFit;
    default:
      return Judgement::kNone;
  }
}

void VerdictTable::CountRan(Judgement judgement) {
  fits_ran += judgement == Judgement::kFits;
  refused_ran += judgement == Judgement::kDoesNotFit;
}

void VerdictTable::CountFailed(Judgement judgement) {
  fits_failed += judgement == Judgement::kFits;
  refused_failed += judgement == Judgement::kDoesNotFit;
}

void VerdictTable::Add(const VerdictTable& other) {
  fits_ran += other.fits_ran;
  fits_failed += other.fits_failed;
  refused_ran += other.refused_ran;
  refused_failed += other.refused_failed;
}

VerdictFigures FiguresOf(const VerdictTable& table, double false_fit_cost,
                         double false_refusal_cost) {
  const auto fits_ran = static_cast<double>(table.fits_ran);
  const auto fits_failed = static_cast<double>(table.fits_failed);
  const auto refused_ran = static_cast<double>(table.refused_ran);
  const auto refused_failed = static_cast<double>(table.refused_failed);
  const double ran = fits_ran + refused_ran;
  const double failed = fits_failed + refused_failed;

  VerdictFigures figures;
  if (failed > 0) figures.false_fit = fits_failed / failed;
  if (ran > 0) figures.false_refusal = refused_ran / ran;
  if (ran == 0 || failed == 0) return figures;
  const double refused = refused_ran + refused_failed;
  const double fits = fits_ran + fits_failed;
  if (refused > 0) figures.precision = refused_failed / refused;
  figures.recall = refused_failed / failed;
  figures.balanced_accuracy = (refused_failed / failed + fits_ran / ran) / 2;
  if (refused > 0 && fits > 0) {
    figures.matthews = (refused_failed * fits_ran - refused_ran * fits_failed) /
                       std::sqrt(refused * fits * ran * failed);
  }
  figures.cost =
      (false_fit_cost * fits_failed + false_refusal_cost * refused_ran) /
      (ran + failed);
  return figures;
}

}  // namespace lmsimbench::score
