#include "lib/core/recompute_modules.h"

#include <algorithm>

#include "lmsimbench/nearest_name.h"

namespace lmsimbench {

bool IsRecomputeModule(absl::string_view name) {
  return std::find(kRecomputeModules.begin(), kRecomputeModules.end(), name) !=
         kRecomputeModules.end();
}

std::string NearestRecomputeModules(absl::string_view modules) {
  std::string nearest;
  VisitRecomputeModules(modules, [&nearest](absl::string_view name) {
    const std::string known =
        IsRecomputeModule(name) ? std::string(name)
                                : NearestName(name, {kRecomputeModules.begin(),
                                                     kRecomputeModules.end()});
    if (!known.empty()) nearest += (nearest.empty() ? "" : "-") + known;
    return true;
  });
  return nearest;
}

}  // namespace lmsimbench
