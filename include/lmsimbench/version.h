#pragma once

namespace lmsimbench {

/// Version of the library, following semantic versioning. Before 1.0 the C++
/// interface is source-stable within a minor version.
inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;
inline constexpr char kVersion[] = "0.1.0";

}  // namespace lmsimbench
