#include "lmsimbench/measurements.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench {
namespace {

absl::Status ReadSpreads(const Bundle& bundle,
                         std::map<std::string, double>& spreads) {
  const ProfileView& sources = bundle.ViewOrEmpty("sources");
  if (sources.rows() == 0) return absl::OkStatus();
  absl::StatusOr<StringColumn> ids = sources.Strings("source_id");
  if (!ids.ok()) return ids.status();
  absl::StatusOr<absl::Span<const double>> percent =
      sources.F64("repeat_spread_percent");
  if (!percent.ok()) return percent.status();
  for (size_t row = 0; row < sources.rows(); ++row) {
    if (IsStated((*percent)[row])) {
      spreads[std::string((*ids)[row])] = (*percent)[row];
    }
  }
  return absl::OkStatus();
}

/// NOT_FOUND with the values that are there, or the nearest of them.
absl::Status NothingWith(const char* what, const std::string& value,
                         const std::set<std::string>& known) {
  const std::vector<std::string> candidates(known.begin(), known.end());
  const std::string nearest = NearestName(value, candidates);
  return absl::NotFoundError(
      fmt::format("no measured run has the {} '{}'{}", what, value,
                  nearest.empty() ? std::string()
                                  : fmt::format("; nearest: '{}'", nearest)));
}

}  // namespace

absl::StatusOr<Measurements> ReadMeasurements(const Bundle& bundle) {
  Measurements measurements;
  absl::StatusOr<std::vector<MeasuredRun>> runs = ReadRuns(bundle);
  if (!runs.ok()) return runs.status();
  measurements.runs = *std::move(runs);
  absl::StatusOr<std::vector<MeasuredRun>> failed = ReadFailedRuns(bundle);
  if (!failed.ok()) return failed.status();
  measurements.failed_runs = *std::move(failed);

  absl::Status status = ReadSpreads(bundle, measurements.repeat_spread_percent);
  if (!status.ok()) return status;

  std::set<std::string> platforms;
  for (const MeasuredRun& run : measurements.runs) {
    platforms.insert(run.platform);
  }
  for (const MeasuredRun& run : measurements.failed_runs) {
    platforms.insert(run.platform);
  }
  for (const std::string& platform : platforms) {
    const absl::StatusOr<System> system = FindPlatform(bundle, platform);
    // Runs on a platform without a description are scored all the same.
    if (system.ok() && IsStated(system->accelerator.memory_bytes)) {
      measurements.memory_capacity_bytes[platform] =
          system->accelerator.memory_bytes;
    }
  }
  measurements.fingerprint = bundle.Fingerprint();
  return measurements;
}

bool Selects(const Selection& selection, const MeasuredRun& run) {
  return run.split == selection.split &&
         (selection.source.empty() || run.source == selection.source) &&
         (selection.platform.empty() || run.platform == selection.platform);
}

absl::Status CheckSelection(const Selection& selection,
                            const Measurements& measurements) {
  std::set<std::string> splits, sources, platforms;
  bool any = false;
  for (const auto* runs : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *runs) {
      any = any || Selects(selection, run);
      splits.insert(run.split);
      sources.insert(run.source);
      platforms.insert(run.platform);
    }
  }
  if (any) return absl::OkStatus();
  if (splits.empty()) {
    return absl::NotFoundError("the measurements hold no runs");
  }
  if (splits.count(selection.split) == 0) {
    return NothingWith("split", selection.split, splits);
  }
  if (!selection.source.empty() && sources.count(selection.source) == 0) {
    return NothingWith("source", selection.source, sources);
  }
  if (!selection.platform.empty() && platforms.count(selection.platform) == 0) {
    return NothingWith("platform", selection.platform, platforms);
  }
  return absl::NotFoundError(fmt::format(
      "no measured run has the split '{}'{}{} at once", selection.split,
      selection.source.empty()
          ? std::string()
          : fmt::format(", the source '{}'", selection.source),
      selection.platform.empty()
          ? std::string()
          : fmt::format(", the platform '{}'", selection.platform)));
}

}  // namespace lmsimbench
