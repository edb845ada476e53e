#include "lib/cost/platform_match.h"

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

bool SameNode(const System& a, const System& b) {
  if (a.network.empty() || b.network.empty()) return a.name == b.name;
  const NetworkLevel& x = a.network.front();
  const NetworkLevel& y = b.network.front();
  return SameField(x.bandwidth, y.bandwidth) &&
         SameField(x.latency_s, y.latency_s) && x.link == y.link &&
         (a.name == b.name || IsStated(x.bandwidth));
}

}  // namespace lmsimbench
