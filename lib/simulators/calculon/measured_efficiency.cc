#include "lib/simulators/calculon/measured_efficiency.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::calculon {
namespace {

// A median of fewer figures says little.
constexpr size_t kFewest = 5;
// Messages that fill a link, and messages whose time is all latency.
constexpr int64_t kLargeBytes = int64_t{64} << 20;
constexpr int64_t kSmallBytes = int64_t{16} << 10;

double Median(std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) /
         2;
}

struct Samples {
  std::vector<double> steps_16bit[std::size(kMatrixSteps)];
  std::vector<double> steps_8bit[std::size(kMatrixSteps)];
  std::vector<double> link_shares;
  std::vector<double> latencies_s;
};

class Platforms {
 public:
  explicit Platforms(const Bundle& bundle) : bundle_(bundle) {}

  /// The platform, or null if the bundle has no table row for it.
  const lmsimbench::System* Find(absl::string_view name) {
    const auto [place, is_new] = known_.try_emplace(std::string(name));
    if (is_new) {
      if (auto found = FindPlatform(bundle_, place->first); found.ok()) {
        place->second = std::make_unique<lmsimbench::System>(*std::move(found));
      }
    }
    return place->second.get();
  }

 private:
  const Bundle& bundle_;
  std::map<std::string, std::unique_ptr<lmsimbench::System>> known_;
};

absl::Status ReadGemms(const Bundle& bundle, Platforms& platforms,
                       std::map<std::string, Samples>& samples) {
  const ProfileView& view = bundle.ViewOrEmpty("gemms");
  if (view.rows() == 0) return absl::OkStatus();
  const auto split = view.Strings("split");
  const auto platform = view.Strings("platform");
  const auto dtype = view.Strings("dtype");
  const auto latency_us = view.F64("latency_us");
  for (const auto* column : {&split, &platform, &dtype}) {
    if (!column->ok()) return column->status();
  }
  if (!latency_us.ok()) return latency_us.status();
  absl::Span<const int64_t> sizes[4];
  const char* const names[] = {"m", "n", "k", "batch"};
  for (int i = 0; i < 4; ++i) {
    const auto column = view.I64(names[i]);
    if (!column.ok()) return column.status();
    sizes[i] = *column;
  }

  for (size_t row = 0; row < view.rows(); ++row) {
    if ((*split)[row] != "fit") continue;
    const lmsimbench::System* system = platforms.Find((*platform)[row]);
    if (system == nullptr) continue;
    const absl::string_view type = (*dtype)[row];
    const bool is_8bit = absl::StartsWith(type, "fp8");
    if (!is_8bit && type != "bf16" && type != "fp16") continue;
    const Precision precision = is_8bit          ? Precision::kFp8
                                : type == "bf16" ? Precision::kBf16
                                                 : Precision::kFp16;
    const double peak = PeakFlops(system->accelerator, precision);
    if (!IsStated(peak)) continue;
    double flops = 2;
    for (const auto& size : sizes) flops *= static_cast<double>(size[row]);
    const double efficiency = flops / ((*latency_us)[row] * 1e-6) / peak;
    // A kernel faster than the peak is measured wrongly, or its size is.
    if (!(efficiency > 0 && efficiency <= 1)) continue;
    const auto* step =
        std::find_if(std::begin(kMatrixSteps), std::end(kMatrixSteps),
                     [flops](double lowest) { return flops >= lowest * 1e9; });
    Samples& of_platform = samples[system->name];
    auto& steps = is_8bit ? of_platform.steps_8bit : of_platform.steps_16bit;
    steps[step - std::begin(kMatrixSteps)].push_back(efficiency);
  }
  return absl::OkStatus();
}

absl::Status ReadCollectives(const Bundle& bundle, Platforms& platforms,
                             std::map<std::string, Samples>& samples) {
  const ProfileView& view = bundle.ViewOrEmpty("collectives");
  if (view.rows() == 0) return absl::OkStatus();
  const auto split = view.Strings("split");
  const auto platform = view.Strings("platform");
  const auto kind = view.Strings("collective");
  const auto notes = view.Strings("notes");
  for (const auto* column : {&split, &platform, &kind, &notes}) {
    if (!column->ok()) return column->status();
  }
  const auto bytes = view.I64("bytes");
  const auto nodes = view.I64("nodes");
  if (!bytes.ok()) return bytes.status();
  if (!nodes.ok()) return nodes.status();
  const auto latency_us = view.F64("latency_us");
  const auto bus_GBps = view.F64("busbw_GBps");
  if (!latency_us.ok()) return latency_us.status();
  if (!bus_GBps.ok()) return bus_GBps.status();

  for (size_t row = 0; row < view.rows(); ++row) {
    if ((*split)[row] != "fit" || (*kind)[row] != "all_reduce" ||
        (*nodes)[row] != 1 || absl::StrContains((*notes)[row], "FLAG")) {
      continue;
    }
    const lmsimbench::System* system = platforms.Find((*platform)[row]);
    if (system == nullptr) continue;
    Samples& of_platform = samples[system->name];
    const int64_t size = (*bytes)[row];
    if (size >= kLargeBytes && !system->network.empty()) {
      const double share =
          (*bus_GBps)[row] * 1e9 / system->network[0].bandwidth;
      // In-network reduction can exceed the link; a description cannot.
      if (share > 0) of_platform.link_shares.push_back(std::min(share, 1.0));
    } else if (size >= 0 && size <= kSmallBytes && (*latency_us)[row] > 0) {
      of_platform.latencies_s.push_back((*latency_us)[row] * 1e-6);
    }
  }
  return absl::OkStatus();
}

std::vector<EfficiencyStep> MedianSteps(
    std::vector<double> (&samples)[std::size(kMatrixSteps)]) {
  std::vector<EfficiencyStep> steps;
  for (size_t i = 0; i < std::size(kMatrixSteps); ++i) {
    if (samples[i].size() >= kFewest) {
      steps.push_back({kMatrixSteps[i], Median(samples[i])});
    }
  }
  return steps;
}

}  // namespace

absl::StatusOr<std::map<std::string, MeasuredEfficiency>> MeasureEfficiency(
    const Bundle& bundle) {
  Platforms platforms(bundle);
  std::map<std::string, Samples> samples;
  if (absl::Status status = ReadGemms(bundle, platforms, samples);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadCollectives(bundle, platforms, samples);
      !status.ok()) {
    return status;
  }
  std::map<std::string, MeasuredEfficiency> measured;
  for (auto& [platform, of_platform] : samples) {
    MeasuredEfficiency& efficiency = measured[platform];
    efficiency.matrix_16bit = MedianSteps(of_platform.steps_16bit);
    efficiency.matrix_8bit = MedianSteps(of_platform.steps_8bit);
    if (of_platform.link_shares.size() >= kFewest) {
      efficiency.node_link_share = Median(of_platform.link_shares);
    }
    if (of_platform.latencies_s.size() >= kFewest) {
      efficiency.node_latency_s = Median(of_platform.latencies_s);
    }
  }
  return measured;
}

}  // namespace lmsimbench::calculon
