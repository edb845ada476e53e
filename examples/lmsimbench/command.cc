#include "command.h"

#include <fmt/core.h>

#include <algorithm>

#include "lmsimbench/lookup.h"

absl::StatusOr<lmsimbench::Bundle> OpenBundle(const Program& program) {
  return program.bundle_file.empty()
             ? lmsimbench::Bundle::Embedded()
             : lmsimbench::Bundle::Open(program.bundle_file);
}

int Fail(const absl::Status& status) {
  fmt::print(stderr, "lmsimbench: {}\n", std::string(status.message()));
  return kRefusedOrFailed;
}

int FailLookup(const absl::Status& status) {
  Fail(status);
  return absl::IsNotFound(status) ? kUsage : kRefusedOrFailed;
}

int FailUsage(const std::string& message) {
  fmt::print(stderr, "lmsimbench: {}\n", message);
  return kUsage;
}

absl::Status CheckKnown(const std::string& option, const std::string& name,
                        const std::vector<std::string>& known) {
  if (name.empty() ||
      std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  const std::string nearest = lmsimbench::NearestName(name, known);
  return absl::InvalidArgumentError(fmt::format(
      "{}: the bundle knows no '{}'{}", option, name,
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}
