#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lmsimbench/simulator.h"

/// \file
/// Plug-ins: shared objects that link nothing of the library. What they have to
/// export is told at the end of the C header, lmsimbench/c.h. Users of this
/// header link the target lmsimbench::plugin.

namespace lmsimbench {

/// A plug-in's simulator, or the five stages with its cost model.
struct Plugin {
  /// The shared object stays loaded as long as this.
  std::unique_ptr<const Simulator> simulator;
  /// May be asked by several threads at once.
  bool thread_safe = false;
};

/// Loads a plug-in into this process, whose crash would be this process's: what
/// is not trusted is better served by a process of its own.
/// FAILED_PRECONDITION says what is wrong with the file.
absl::StatusOr<Plugin> LoadPlugin(const std::string& path);

}  // namespace lmsimbench
