#include "lib/cost/platform_match.h"

#include <algorithm>

namespace lmsimbench {

bool SameAccelerator(const System& a, const System& b) {
  const Accelerator& x = a.accelerator;
  const Accelerator& y = b.accelerator;
  const bool same_figures = SameField(x.memory_bandwidth, y.memory_bandwidth) &&
                            SameField(x.fp32_flops, y.fp32_flops) &&
                            SameField(x.fp16_flops, y.fp16_flops) &&
                            SameField(x.bf16_flops, y.bf16_flops) &&
                            SameField(x.fp8_flops, y.fp8_flops) &&
                            x.cores == y.cores &&
                            SameField(x.clock_hz, y.clock_hz);
  if (!same_figures) return false;
  return a.name == b.name ||
         (x.vendor == y.vendor && IsStated(x.memory_bandwidth) &&
          IsStated(x.fp16_flops) && IsStated(x.cores) && IsStated(x.clock_hz));
}

bool SameNetwork(const System& a, const System& b) {
  const size_t levels = std::max(a.network.size(), b.network.size());
  bool all_stated = levels > 0;
  for (size_t i = 0; i < levels; ++i) {
    if (i >= a.network.size() || i >= b.network.size()) return false;
    const NetworkLevel& x = a.network[i];
    const NetworkLevel& y = b.network[i];
    if (!SameField(x.bandwidth, y.bandwidth) || x.size != y.size ||
        !SameField(x.latency_s, y.latency_s) || x.link != y.link) {
      return false;
    }
    all_stated = all_stated && IsStated(x.bandwidth);
  }
  return a.name == b.name || all_stated;
}

}  // namespace lmsimbench
