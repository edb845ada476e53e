#pragma once

#include <string>
#include <vector>

#include "lmsimbench/testing.h"

namespace lmsimbench {

/// The figures over some rows.
ErrorFigures FiguresOf(std::string name,
                       const std::vector<const MeasuredRow*>& rows);

/// Fills `all`, `splits` and `categories` from `rows`.
void SetFigures(CostErrors& errors);

}  // namespace lmsimbench
