#pragma once

#include <string>
#include <vector>

#include "lib/score/scored_setting.h"
#include "lmsimbench/score.h"
#include "lmsimbench/scorecard.h"

/// \file
/// From settings to the figures of a line: over all rows together, and as a
/// mean over settings.

namespace lmsimbench::score {

/// Appends the figures of one line for each source, for "ALL" and for "MACRO".
/// Settings must be sorted by source.
void AppendFigures(const std::string& subset,
                   const std::vector<ScoredSetting>& settings,
                   const ScoreOptions& options, std::vector<Figure>& figures);

}  // namespace lmsimbench::score
