#pragma once

#include <vector>

namespace lmsimbench::calibrate {

/// The share of a device's memory that tells runs that ran from those that did
/// not: of all from 0.7 to 1 the one with the best mean of the shares judged
/// rightly on both sides, among those that refuse no more than 3 % of what ran.
/// `ran` and `failed` are predicted peaks over the capacity. NaN if there are
/// fewer than 20 of either.
double UsableMemory(std::vector<double> ran, std::vector<double> failed);

}  // namespace lmsimbench::calibrate
