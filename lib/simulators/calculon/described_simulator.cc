#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/simulators/calculon/mapped_simulator.h"
#include "lib/simulators/calculon/measured_efficiency.h"
#include "lmsimbench/calculon.h"

namespace lmsimbench {
namespace calculon {
namespace {

// Defaults for what neither a platform's figures nor its measured kernels give.
// They are those of Calculon's own description of the A100.
constexpr EfficiencyStep kDefaultMatrix[] = {
    {1024, 0.95}, {128, 0.95}, {16, 0.9}, {1, 0.6}, {0, 0.1}};
constexpr EfficiencyStep kDefaultVector[] = {{16, 0.95}, {1, 0.5}, {0, 0.1}};
constexpr EfficiencyStep kDefaultMemory[] = {
    {100, 0.9}, {10, 0.75}, {1, 0.6}, {0, 0.3}};
constexpr EfficiencyStep kDefaultHostMemory[] = {
    {100, 0.95}, {10, 0.9}, {1, 0.7}, {0, 0.3}};
constexpr double kDefaultHostMemoryGib = 512;
constexpr double kDefaultHostMemoryGBps = 32;
constexpr double kDefaultNodeLinkShare = 0.65;
constexpr double kDefaultNodeLatencyS = 1e-5;
constexpr double kDefaultClusterLinkShare = 0.9;
constexpr double kDefaultClusterLatencyS = 2e-5;
constexpr double kDefaultClusterSize = 65536;
constexpr double kDefaultNodeProcessorUsage = 0.15;
constexpr double kDefaultClusterProcessorUsage = 0.02;
// 16-bit operations of the vector engine per 32-bit one; a platform states the
// latter only.
constexpr double kVectorPerFp32 = 2;
// The vector engine's share of the matrix engine where not even that is stated.
constexpr double kVectorPerMatrix = 0.125;

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

RateTable Table(double peak, double unit,
                absl::Span<const EfficiencyStep> steps) {
  return RateTable(peak, unit, steps);
}

// The measured steps where there are any, the default elsewhere.
std::vector<EfficiencyStep> MatrixSteps(
    const std::vector<EfficiencyStep>& measured,
    std::vector<std::string>& adaptations) {
  std::vector<EfficiencyStep> steps(std::begin(kDefaultMatrix),
                                    std::end(kDefaultMatrix));
  for (const EfficiencyStep& step : measured) {
    for (EfficiencyStep& target : steps) {
      if (target.threshold == step.threshold) target = step;
    }
  }
  if (measured.size() < steps.size()) {
    adaptations.push_back(
        fmt::format("default matrix efficiency in {} of {} size steps",
                    steps.size() - measured.size(), steps.size()));
  }
  return steps;
}

// A network of which a device has `bandwidth` bytes per second, one direction;
// collectives move what rings move.
Network MakeNetwork(double bandwidth, double share, double size,
                    double latency_s, double processor_usage) {
  Network network;
  network.bandwidth_bytes_per_s = bandwidth;
  network.efficiency = share;
  network.size = size;
  network.latency_s = latency_s;
  network.ops[static_cast<size_t>(NetworkOp::kP2p)] = {1, 0};
  network.ops[static_cast<size_t>(NetworkOp::kReduceScatter)] = {1, -1};
  network.ops[static_cast<size_t>(NetworkOp::kAllGather)] = {1, -1};
  network.ops[static_cast<size_t>(NetworkOp::kAllReduce)] = {2, -1};
  network.processor_usage = processor_usage;
  return network;
}

absl::Status Missing(const lmsimbench::System& system, const char* figure) {
  return absl::FailedPreconditionError(
      fmt::format("platform {} does not state its {}", system.name, figure));
}

class DescribedSimulator : public MappedSimulator {
 public:
  DescribedSimulator(std::map<std::string, MeasuredEfficiency> measured,
                     const CalculonAdaptations& adaptations)
      : MappedSimulator("calculon-described", adaptations),
        measured_(std::move(measured)) {}

 private:
  absl::StatusOr<Description> Describe(
      const lmsimbench::System& system, const ParallelConfig& config,
      System& description,
      std::vector<std::string>& adaptations) const override {
    const MeasuredEfficiency nothing;
    const auto found = measured_.find(system.name);
    const MeasuredEfficiency& measured =
        found == measured_.end() ? nothing : found->second;
    description = System();
    if (absl::Status status =
            DescribeEngines(system, measured, description, adaptations);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = DescribeMemory(system, description);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = DescribeNetworks(system, config, measured,
                                               description, adaptations);
        !status.ok()) {
      return status;
    }
    return Description{&description, system.accelerator.memory_bytes,
                       NodeSize(system)};
  }

  // A platform that states no node size is one of single devices.
  static int64_t NodeSize(const lmsimbench::System& system) {
    const int64_t stated = DevicesPerNode(system);
    return IsStated(stated) ? stated : 1;
  }

  static absl::Status DescribeEngines(const lmsimbench::System& system,
                                      const MeasuredEfficiency& measured,
                                      System& description,
                                      std::vector<std::string>& adaptations) {
    const Accelerator& accelerator = system.accelerator;
    double peak = PeakFlops(accelerator, Precision::kBf16);
    if (!IsStated(peak)) peak = PeakFlops(accelerator, Precision::kFp16);
    if (!IsStated(peak)) return Missing(system, "16-bit peak");
    const auto float16 = static_cast<size_t>(Datatype::kFloat16);
    const auto float8 = static_cast<size_t>(Datatype::kFloat8);
    description.matrix.tables[float16] =
        Table(peak, 1e9, MatrixSteps(measured.matrix_16bit, adaptations));

    double vector_peak = kVectorPerFp32 * accelerator.fp32_flops;
    if (!IsStated(vector_peak)) {
      vector_peak = kVectorPerMatrix * peak;
      adaptations.emplace_back(
          "default vector peak: an eighth of the matrix peak");
    }
    description.vector.tables[float16] =
        Table(vector_peak, 1e9, kDefaultVector);

    const double peak_8bit = PeakFlops(accelerator, Precision::kFp8);
    if (IsStated(peak_8bit)) {
      std::vector<std::string> unused;
      description.matrix.tables[float8] =
          Table(peak_8bit, 1e9, MatrixSteps(measured.matrix_8bit, unused));
      description.vector.tables[float8] =
          Table(vector_peak, 1e9, kDefaultVector);
    }
    return absl::OkStatus();
  }

  static absl::Status DescribeMemory(const lmsimbench::System& system,
                                     System& description) {
    const Accelerator& accelerator = system.accelerator;
    if (!IsStated(accelerator.memory_bandwidth)) {
      return Missing(system, "memory bandwidth");
    }
    if (!IsStated(accelerator.memory_bytes)) {
      return Missing(system, "memory capacity");
    }
    description.mem1.capacity_bytes = std::numeric_limits<double>::infinity();
    description.mem1.rate =
        Table(accelerator.memory_bandwidth, 1e6, kDefaultMemory);
    // Nothing is offloaded; the tier only has to be there.
    description.mem2.capacity_bytes = kDefaultHostMemoryGib * kGibibyte;
    description.mem2.rate =
        Table(kDefaultHostMemoryGBps * 1e9, 1e6, kDefaultHostMemory);
    return absl::OkStatus();
  }

  static absl::Status DescribeNetworks(const lmsimbench::System& system,
                                       const ParallelConfig& config,
                                       const MeasuredEfficiency& measured,
                                       System& description,
                                       std::vector<std::string>& adaptations) {
    const auto node = static_cast<double>(NodeSize(system));
    const bool in_node = Devices(config) > 1 && node > 1;
    const bool between_nodes = static_cast<double>(Devices(config)) > node;
    const auto bandwidth = [&system](size_t level) {
      return level < system.network.size() ? system.network[level].bandwidth
                                           : kNoNumber;
    };
    if (in_node && !IsStated(bandwidth(0))) {
      return Missing(system, "bandwidth within a node");
    }
    if (between_nodes && !IsStated(bandwidth(1))) {
      return Missing(system, "bandwidth between nodes");
    }

    double share = measured.node_link_share;
    double latency_s = measured.node_latency_s;
    if (in_node && !IsStated(share)) {
      adaptations.emplace_back("default share of the link within a node");
    }
    if (in_node && !IsStated(latency_s)) {
      adaptations.emplace_back("default latency within a node");
    }
    if (between_nodes) {
      adaptations.emplace_back(
          "default share and latency of the link between nodes");
    }
    if (!IsStated(share)) share = kDefaultNodeLinkShare;
    if (!IsStated(latency_s)) latency_s = kDefaultNodeLatencyS;
    // A link that carries nothing still needs a bandwidth to divide by.
    const auto or_one = [](double value) {
      return IsStated(value) ? value : 1;
    };
    description.networks = {
        MakeNetwork(or_one(bandwidth(0)), share, node, latency_s,
                    kDefaultNodeProcessorUsage),
        MakeNetwork(or_one(bandwidth(1)), kDefaultClusterLinkShare,
                    kDefaultClusterSize, kDefaultClusterLatencyS,
                    kDefaultClusterProcessorUsage)};
    return absl::OkStatus();
  }

  std::map<std::string, MeasuredEfficiency> measured_;
};

}  // namespace
}  // namespace calculon

absl::StatusOr<std::unique_ptr<Simulator>> MakeCalculonDescribed(
    const Bundle& bundle, const CalculonAdaptations& adaptations) {
  auto measured = calculon::MeasureEfficiency(bundle);
  if (!measured.ok()) return measured.status();
  return std::make_unique<calculon::DescribedSimulator>(*std::move(measured),
                                                        adaptations);
}

}  // namespace lmsimbench
