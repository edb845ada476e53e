#pragma once

#include <vector>

#include "lmsimbench/system.h"

namespace lmsimbench {

/// \{ True if measurements of one system hold for the other: what is published
/// of the accelerator, or of the links inside a node (how many devices share
/// them is a matter of the run), is the same. Systems of different names have
/// to state it.
bool SameAccelerator(const System& a, const System& b);
bool SameNode(const System& a, const System& b);
/// \}

/// Index of the first of `entries` whose platform is the same as `system`, one
/// of its own name first; -1 if there is none. `same` is one of the above.
template <typename Entry>
int MatchPlatform(const std::vector<Entry>& entries, const System& system,
                  bool (*same)(const System&, const System&)) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].platform.name == system.name &&
        same(entries[i].platform, system)) {
      return static_cast<int>(i);
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (same(entries[i].platform, system)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace lmsimbench
