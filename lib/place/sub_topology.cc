#include "fmt/format.h"
#include "lmsimbench/placement.h"

namespace lmsimbench {

absl::StatusOr<System> SubTopology(const System& system, int64_t devices) {
  if (devices < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "a part of {} devices was asked for; it has at least 1", devices));
  }
  if (IsStated(system.devices) && system.devices < devices) {
    return absl::InvalidArgumentError(fmt::format(
        "a part of {} devices was asked for; the system '{}' states {}",
        devices, system.name, system.devices));
  }
  System part = system;
  part.devices = devices;
  return part;
}

}  // namespace lmsimbench
