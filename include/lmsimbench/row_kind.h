#pragma once

#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/measured_run.h"

namespace lmsimbench {

/// Kinds of rows that are scored apart: flags that a row may carry, and last a
/// grade.
inline constexpr const char* kFlaggedKinds[] = {
    "FLAG-LOWMFU", "SUSPECT", "INCONSISTENT", "CHECK", "FLAG", "A-ci"};

/// Bit i is set if the run is of `kFlaggedKinds[i]`; a run may be of several.
/// The flag is divided at ';', and of each piece the text before ':' counts.
inline unsigned KindsOf(const MeasuredRun& run) {
  constexpr size_t kFlags = std::size(kFlaggedKinds) - 1;
  unsigned kinds = 0;
  for (absl::string_view piece : absl::StrSplit(run.flag, ';')) {
    const absl::string_view name =
        absl::StripAsciiWhitespace(piece.substr(0, piece.find(':')));
    for (size_t i = 0; i < kFlags; ++i) {
      if (name == kFlaggedKinds[i]) kinds |= 1U << i;
    }
  }
  if (run.grade == kFlaggedKinds[kFlags]) kinds |= 1U << kFlags;
  return kinds;
}

/// True if the run is of none of these kinds: the headline figures rest on such
/// rows, and so does what is fitted.
inline bool IsHeadline(const MeasuredRun& run) { return KindsOf(run) == 0; }

}  // namespace lmsimbench
