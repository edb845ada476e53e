#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lib/calibrate/least_squares.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/framework.h"

/// \file
/// Which constants of a framework are fitted, and within which ranges.

namespace lmsimbench::calibrate {

/// Frameworks that share their constants.
struct FrameworkClass {
  const char* name;
  /// The class before it whose constants are expected here too; empty: none.
  const char* parent;
  /// How their names begin, in lower case; behind the last one null.
  std::array<const char*, 6> begins;
};

/// The classes that are told apart.
absl::Span<const FrameworkClass> FrameworkClasses();

/// The class whose names begin so; of several the longest beginning; -1: none.
int ClassOf(const std::string& framework);

/// What is measured of a run, and decides a constant.
enum class Target : uint8_t { kTime, kMemory };

/// One constant of a class: a field of `FrameworkParameters`.
struct FrameworkConstant {
  Constant constant;
  /// A second start, at which it is felt: a host that is slower than its
  /// device, ranks that wait for each other.
  double busy = kNoNumber;
  /// Each device has its own beside the one of all, which it is expected to be
  /// near.
  bool of_accelerator = false;
  Target target = Target::kTime;
};

/// All of them, their names being those of the fields.
std::vector<FrameworkConstant> FrameworkConstants();

/// The field with this name; the name must be one.
double& FieldOf(FrameworkParameters& parameters, const std::string& name);

/// The parameters that a calibration found for a device: those of the
/// framework, and in their place those of the device where it has its own.
FrameworkParameters ParametersOf(const CalibratedFramework& framework,
                                 const std::string& accelerator);

}  // namespace lmsimbench::calibrate
