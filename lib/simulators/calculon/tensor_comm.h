#pragma once

#include <array>

#include "lib/simulators/calculon/layer.h"

namespace lmsimbench::calculon {

/// Two kinds of block: base blocks lie inside a chunk, edge blocks border on a
/// pipeline transfer.
enum BlockKind { kBase, kEdge };
inline constexpr int kBlockKindCount = 2;

/// The stages that communicate; the optimizer's does not.
inline constexpr int kCommStageCount = 3;

/// Tensor-parallel communication of a layer, by stage and kind of block. The
/// values of kWeightGrad are those of redoing the forward communication and
/// count only where it is redone.
struct Communication {
  using Values =
      std::array<std::array<double, kBlockKindCount>, kCommStageCount>;
  Values size = {};     ///< bytes
  Values time = {};     ///< on the link, with the reduction that follows
  Values exposed = {};  ///< not hidden behind the layer's own work
  /// What a block counts as exposed where the forward communication is redone.
  std::array<double, kBlockKindCount> redone_exposed = {};
  /// bytes/s with which forward and backward would just be hidden; 0 where
  /// nothing is overlapped.
  std::array<std::array<double, kBlockKindCount>, 2> required_bandwidth = {};
  double tiles = 1;  ///< messages into which the size is cut
};

/// What tensor-parallel communication needs to know.
struct TensorGroup {
  const Network* network = nullptr;
  TensorComm comm = TensorComm::kAllReduce;
  TensorOverlap overlap = TensorOverlap::kNone;
  double peers = 1;  ///< t

  /// Whether an all-reduce is split into reduce-scatter and all-gather around
  /// the layers between.
  bool Split(BlockKind kind) const {
    return comm == TensorComm::kRsAg ||
           (comm == TensorComm::kP2pRsAg && kind == kEdge);
  }
};

/// Seconds of the three collectives for messages of one size, each only where
/// the group uses it.
struct CollectiveTimes {
  double reduce_scatter = 0;
  double all_gather = 0;
  double all_reduce = 0;
};
CollectiveTimes TimeCollectives(const TensorGroup& group, double bytes);

/// The communication layer on x elements (TPComm): at the start of the divided
/// layers (`conjugate` false: gathers forward, reduces backward) or at their
/// end (the reverse). `times` are those of x elements.
void TensorCommLayer(const Pricing& pricing, const TensorGroup& group, double x,
                     bool conjugate, const CollectiveTimes& times, Layer& layer,
                     Communication& communication);

/// A product whose communication is overlapped tile by tile (LinearOverlapped).
/// n and k are the sizes of the whole matrix; k is divided over the group, or n
/// where `conjugate`. `redone`: the forward communication is repeated in the
/// backward pass.
void OverlappedLinear(const Pricing& pricing, const TensorGroup& group,
                      double m, double n, double k, bool conjugate, bool redone,
                      Layer& layer, Communication& communication);

}  // namespace lmsimbench::calculon
