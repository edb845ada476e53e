#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lmsimbench {

/// The candidate nearest to `name` by edit distance (case aside; the first of
/// equals), or, where none is within a third of the name's length, the shortest
/// one that begins with it. An empty string if none is near. For messages that
/// ask "did you mean…".
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates);

}  // namespace lmsimbench
