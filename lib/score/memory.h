#pragma once

#include <cstdint>

#include "lib/score/accuracy.h"
#include "lib/score/setting.h"
#include "lmsimbench/values.h"

/// \file
/// Memory (section D): errors of the peak, and the verdict whether a
/// configuration fits.

namespace lmsimbench::score {

/// Measured and predicted peaks of the setting's rows whose measured peak has
/// this scope. `measured` counts the rows that have one, answered or not.
struct Peaks {
  Pairs pairs;
  int64_t measured = 0;
};
Peaks PeaksOf(const Setting& setting, MemoryScope scope);

/// What a simulator says about a configuration on a device.
enum class Judgement : uint8_t { kNone, kFits, kDoesNotFit };

/// Where both the predicted peak q and the capacity M are known, q (1 + margin)
/// <= M decides; else the simulator's own verdict. What it calls illegal does
/// not fit whatever q is.
Judgement Judge(const Answer& answer, double capacity_bytes, double margin);

/// Verdicts against what happened. Only judged rows count.
struct VerdictTable {
  int64_t fits_ran = 0;
  int64_t fits_failed = 0;  ///< false fits
  int64_t refused_ran = 0;  ///< false refusals
  int64_t refused_failed = 0;

  int64_t ran() const { return fits_ran + refused_ran; }
  int64_t failed() const { return fits_failed + refused_failed; }
  int64_t judged() const { return ran() + failed(); }

  void CountRan(Judgement judgement);
  void CountFailed(Judgement judgement);
  void Add(const VerdictTable& other);
};

/// Figures of a table. NaN where undefined; all but the two shares need both
/// kinds of rows.
struct VerdictFigures {
  double false_fit = kNoNumber;      ///< share of what failed
  double false_refusal = kNoNumber;  ///< share of what ran
  double precision = kNoNumber;      ///< of "does not fit"
  double recall = kNoNumber;         ///< of "does not fit"
  double balanced_accuracy = kNoNumber;
  double matthews = kNoNumber;
  double cost = kNoNumber;
};
VerdictFigures FiguresOf(const VerdictTable& table, double false_fit_cost,
                         double false_refusal_cost);

}  // namespace lmsimbench::score
