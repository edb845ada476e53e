#pragma once

#include <string>

#include "lmsimbench/testing.h"

/// \file
/// Measured rows in words.

namespace lmsimbench {

/// The category of a row, and the rest of what it asks, in a few words.
std::string CategoryOf(const MeasuredQuestion& question);
std::string ShapeOf(const MeasuredQuestion& question);

/// A time in the unit that leaves one to three digits before the point, three
/// in all: "1.23 ms", "615 us". '-' for a missing one.
std::string SecondsText(double seconds);

/// A size in the largest binary unit that divides it: "64 MiB", "1500 B".
std::string BytesText(int64_t bytes);

}  // namespace lmsimbench
