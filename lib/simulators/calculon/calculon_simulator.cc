#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "fmt/core.h"
#include "lib/simulators/calculon/known_systems.h"
#include "lib/simulators/calculon/mapped_simulator.h"
#include "lmsimbench/calculon.h"

namespace lmsimbench {
namespace calculon {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

enum class Known { kA100, kH100 };

// Platforms that one of Calculon's own descriptions stands for.
struct KnownPlatform {
  const char* platform;
  Known system;
  double capacity_bytes;
};
constexpr KnownPlatform kKnownPlatforms[] = {
    {"a100-sxm4-80g", Known::kA100, 80 * kGibibyte},
    {"a800-sxm4-80g", Known::kA100, 80 * kGibibyte},
    {"a100-sxm4-40g", Known::kA100, 40 * kGibibyte},
    {"h100-sxm5-80g", Known::kH100, 80 * kGibibyte},
    {"h800-sxm5-80g", Known::kH100, 80 * kGibibyte},
};

// Both descriptions are of nodes of eight.
constexpr int64_t kDevicesPerNode = 8;

bool IsStrict(const CalculonAdaptations& allowed) {
  return !(allowed.gated_mlp || allowed.grouped_queries ||
           allowed.flash_attention || allowed.sharded_parameters ||
           allowed.unstated);
}

class CalculonSimulator : public MappedSimulator {
 public:
  explicit CalculonSimulator(const CalculonAdaptations& adaptations)
      : MappedSimulator(IsStrict(adaptations) ? "calculon-strict" : "calculon",
                        adaptations),
        a100_(KnownSystem("a100_80g")),
        h100_(KnownSystem("h100_80g_nvl8")) {
    a100_.mem1.capacity_bytes = std::numeric_limits<double>::infinity();
    h100_.mem1.capacity_bytes = std::numeric_limits<double>::infinity();
  }

 private:
  absl::StatusOr<Description> Describe(
      const lmsimbench::System& system, const ParallelConfig&, System&,
      std::vector<std::string>&) const override {
    for (const KnownPlatform& known : kKnownPlatforms) {
      if (system.name == known.platform) {
        return Description{known.system == Known::kA100 ? &a100_ : &h100_,
                           known.capacity_bytes, kDevicesPerNode};
      }
    }
    return absl::UnimplementedError(
        fmt::format("Calculon has no description of {}", system.name));
  }

  System a100_;
  System h100_;
};

}  // namespace
}  // namespace calculon

std::unique_ptr<Simulator> MakeCalculon(
    const CalculonAdaptations& adaptations) {
  return std::make_unique<calculon::CalculonSimulator>(adaptations);
}

}  // namespace lmsimbench
