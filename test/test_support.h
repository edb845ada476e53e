#pragma once

#include <string>

namespace lmsimbench {

/// Path of a committed golden file, relative to test/golden.
std::string GoldenPath(const std::string& name);

/// Whole contents of a file; empty if there is none.
std::string ReadFile(const std::string& path);

}  // namespace lmsimbench
