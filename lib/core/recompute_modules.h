#pragma once

#include <array>
#include <string>

#include "absl/strings/string_view.h"

namespace lmsimbench {

/// What `ParallelConfig::recompute_modules` may name.
inline constexpr std::array<const char*, 4> kRecomputeModules = {
    "attention", "norm", "activation", "mlp"};

/// Calls `visit` with every name of the list, an empty one too, until it
/// returns false; true if it never did.
template <typename Visit>
bool VisitRecomputeModules(absl::string_view modules, Visit&& visit) {
  while (true) {
    const size_t end = modules.find('-');
    if (!visit(modules.substr(0, end))) return false;
    if (end == absl::string_view::npos) return true;
    modules.remove_prefix(end + 1);
  }
}

/// True if it is the name of a module.
bool IsRecomputeModule(absl::string_view name);

/// The list with every name that is not known replaced by the nearest one that
/// is, and left out where none is near.
std::string NearestRecomputeModules(absl::string_view modules);

}  // namespace lmsimbench
