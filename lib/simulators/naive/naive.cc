#include "lmsimbench/naive.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/simulators/naive/time_at_peak.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/row_kind.h"

namespace lmsimbench {
namespace {

constexpr char kFitSplit[] = "fit";

/// Share of the peak that is reached.
struct Utilisation {
  std::map<std::string, double> by_platform;
  /// Of all platforms together.
  double together = kNoNumber;
};

/// Of at least one value.
double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

absl::StatusOr<Utilisation> Fit(NaiveKind kind, const Bundle& bundle) {
  const absl::StatusOr<std::vector<MeasuredRun>> runs = ReadRuns(bundle);
  if (!runs.ok()) return runs.status();

  std::map<std::string, absl::StatusOr<System>> systems;
  std::map<std::string, std::vector<double>> implied;
  std::vector<double> all;
  for (const MeasuredRun& run : *runs) {
    if (run.split != kFitSplit || !IsHeadline(run) ||
        !IsStated(run.iteration_time_s)) {
      continue;
    }
    auto found = systems.find(run.platform);
    if (found == systems.end()) {
      found = systems.emplace(run.platform, FindPlatform(bundle, run.platform))
                  .first;
    }
    if (!found->second.ok()) continue;
    System system = *found->second;
    system.devices = run.devices;
    const absl::StatusOr<double> at_peak =
        naive::TimeAtPeak(kind, run.workload, system, run.config);
    // A row that lacks a figure implies nothing.
    if (!at_peak.ok()) continue;
    implied[run.platform].push_back(*at_peak / run.iteration_time_s);
    all.push_back(implied[run.platform].back());
  }
  if (all.empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "'{}' has nothing to be fitted on: no row of split '{}' has a time and "
        "all that its utilisation needs",
        std::string(Name(kind)), kFitSplit));
  }
  Utilisation utilisation;
  for (auto& [platform, values] : implied) {
    utilisation.by_platform[platform] = Median(std::move(values));
  }
  utilisation.together = Median(std::move(all));
  return utilisation;
}

class NaiveSimulator final : public Simulator {
 public:
  NaiveSimulator(NaiveKind kind, Utilisation utilisation)
      : Simulator(std::string(Name(kind))),
        kind_(kind),
        utilisation_(std::move(utilisation)) {}

 private:
  absl::Status DoPredict(const Workload& workload, const System& system,
                         const ParallelConfig& config, Workspace&,
                         Prediction& prediction) const override {
    const absl::StatusOr<double> at_peak =
        naive::TimeAtPeak(kind_, workload, system, config);
    if (!at_peak.ok()) return at_peak.status();
    const auto found = utilisation_.by_platform.find(system.name);
    const bool fitted = found != utilisation_.by_platform.end();
    if (!fitted) {
      prediction.adaptations.push_back(
          fmt::format("no fit row on {}: utilisation of all platforms together",
                      system.name));
    }
    prediction.iteration_time_s =
        *at_peak / (fitted ? found->second : utilisation_.together);
    return absl::OkStatus();
  }

  const NaiveKind kind_;
  const Utilisation utilisation_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Simulator>> MakeNaive(NaiveKind kind,
                                                     const Bundle& bundle) {
  absl::StatusOr<Utilisation> utilisation = Fit(kind, bundle);
  if (!utilisation.ok()) return utilisation.status();
  return std::make_unique<NaiveSimulator>(kind, *std::move(utilisation));
}

}  // namespace lmsimbench
