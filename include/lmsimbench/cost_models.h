#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"

/// \file
/// The cost models of the library: formulas, tables of measurements, and the
/// composite that takes the best evidence there is.

namespace lmsimbench {

/// Parameters with the platform that they hold for.
template <typename Parameters>
struct FittedOn {
  System platform;
  Parameters parameters;
};

/// How far kernels stay below the published figures of a device. The defaults
/// stand for no vendor: they are the middle of what matrix multiplications,
/// attention kernels and elementwise kernels of the measurement bundle's `fit`
/// rows reach on data-centre accelerators of 2017 to 2025.
struct RooflineParameters {
  /// Share of the peak that a large matrix multiplication reaches, and one of
  /// 8-bit numbers of its own, higher peak.
  double matrix_efficiency = 0.77;
  double matrix_efficiency_fp8 = 0.5;
  /// \{ Small matrices reach less: m / (m + half_tile) of the share, the same
  /// for n, and k / (k + half_depth).
  double half_tile = 60;
  double half_depth = 85;
  /// \}
  /// \{ Factor on the time of a matrix multiplication, but for fp32, whose n
  /// and k (of a weight gradient: m and n), the lengths that lie contiguous in
  /// memory, are multiples of no power of two above 8. What it adds halves with
  /// each power of two that divides both; multiples of `alignment` pay nothing.
  double misaligned_factor = 1.4;
  int64_t alignment = 64;
  /// \}
  /// Share of the peak that a fused attention core reaches for long sequences,
  /// forward and backward; of `tokens` keys it is tokens / (tokens +
  /// half_tokens) of that.
  double attention_forward_efficiency = 0.55;
  double attention_backward_efficiency = 0.48;
  double half_tokens = 800;
  /// Share of the memory bandwidth that a kernel reaches.
  double memory_efficiency = 0.8;
  /// Seconds that the shortest kernel takes.
  double launch_s = 4e-6;
  /// \{ Share of the bandwidth that copies over the link to the host reach, and
  /// work of the host in its memory. Estimates: no row of the measurements is
  /// of them.
  double host_link_efficiency = 0.8;
  double host_memory_efficiency = 0.8;
  /// \}
  /// What a system does not state of its host is taken by the kind of its
  /// device (`UnstatedHost`); else such a system is refused.
  bool assumes_host = false;
};

/// What is taken of the host of a system that does not state its link and
/// memory, in words, as `RooflineParameters::assumes_host` has it; empty: the
/// system states both.
std::string UnstatedHost(const System& system);

/// max(operations / (peak * share), bytes / (memory bandwidth * share)) +
/// launch, from the system's published figures alone; of work of the host its
/// bytes over the host's memory and of copies over the link, too. Answers every
/// operator, no collective. FAILED_PRECONDITION names the figure that the
/// system does not state for the operator's precision. Time does not fall when
/// m, n, k, tokens or rows grow and stay aligned as they are. The parameters
/// are those of the first platform of `fitted` that is the system's own (the
/// same name and published figures) or has the same accelerator, else
/// `parameters`.
std::unique_ptr<CostModel> MakeRooflineModel(
    const RooflineParameters& parameters = {},
    std::vector<FittedOn<RooflineParameters>> fitted = {});

/// How a collective is run.
enum class CollectiveAlgorithm : uint8_t {
  kBest,          ///< the fastest that applies, as communication libraries do
  kRing,          ///< all-reduce, all-gather, reduce-scatter, broadcast
  kTree,          ///< all-reduce, broadcast
  kHierarchical,  ///< all-reduce, all-gather, reduce-scatter: inside the nodes,
                  ///< then across them
  kPairwise,      ///< all-to-all
};
template <>
struct EnumNames<CollectiveAlgorithm> {
  static constexpr const char* kNames[] = {"best", "ring", "tree",
                                           "hierarchical", "pairwise"};
};

/// How far communication stays below the published bandwidth, and what it costs
/// to start. Defaults as for `RooflineParameters`.
struct CollectiveParameters {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kBest;
  /// Share of a device's bandwidth inside the node, and of its share of the
  /// node's links outside, that large messages reach.
  double node_efficiency = 0.6;
  double network_efficiency = 0.8;
  /// Seconds before the first byte moves.
  double base_s = 6e-6;
  /// Seconds of each step of an algorithm inside a node and between nodes,
  /// where the level of the network states no latency.
  double node_step_s = 0.6e-6;
  double network_step_s = 5e-6;
  /// Groups that run at the same time divide the links of their nodes: a group
  /// with g members in nodes of D devices gets g / D of them. Else every group
  /// has all of them.
  bool share_links = true;
  /// Bandwidth of a device at a level whose bandwidth the system does not
  /// state, in bytes per second; missing: such a system is refused.
  double unstated_bandwidth = kNoNumber;
  /// Inside a node in its place: a share of the device's memory bandwidth,
  /// which the links of a node go with; missing: as at other levels.
  double unstated_node_share = kNoNumber;
};

/// Latency plus volume over bandwidth, by algorithm. Answers every collective
/// that its algorithm applies to (sends always), no operator. A group inside a
/// node has the device's bandwidth there; between nodes the narrowest level up
/// to the one that joins the group limits it. FAILED_PRECONDITION names a level
/// or bandwidth that the system does not state. Time does not rise with
/// bandwidth, nor fall with bytes. `fitted` as for `MakeRooflineModel`, by what
/// is published of the links inside a node.
std::unique_ptr<CostModel> MakeCollectiveModel(
    const CollectiveParameters& parameters = {},
    std::vector<FittedOn<CollectiveParameters>> fitted = {});

/// How tables of measurements are read.
struct TableParameters {
  /// How many times beyond the range of what was measured, in any length, a
  /// table still answers (extrapolated).
  double reach = 4;
};

/// Measured times of the bundle's gemms, operators and collectives views, rows
/// of split `fit` only, by platform, interpolated over shapes. Answers what was
/// measured on the system's platform, or one with the same accelerator (for
/// collectives: the same links in a node): matrix multiplications that are not
/// batched, fused attention without a window, elementwise kernels by what they
/// move, collectives within a node. All else it leaves open. A longer shape of
/// the same alignment is never faster than a shorter one. Refuses what
/// `FindPlatform` refuses.
absl::StatusOr<std::unique_ptr<CostModel>> MakeTableModel(
    const Bundle& bundle, const TableParameters& parameters = {});

/// Asks its parts in turn: each is asked what all before it did not answer. The
/// first failure ends it.
std::unique_ptr<CostModel> MakeCompositeModel(
    std::string name, std::vector<std::unique_ptr<CostModel>> parts);

/// The best evidence in the bundle: its tables, and where they do not answer
/// the formulas, whose parameters are fitted on the `fit` kernels of the
/// platform where there are enough, and are those given where not. Reads the
/// whole bundle once; keep it.
absl::StatusOr<std::unique_ptr<CostModel>> MakeDefaultCostModel(
    const Bundle& bundle, const RooflineParameters& roofline = {},
    const CollectiveParameters& collectives = {});

}  // namespace lmsimbench
