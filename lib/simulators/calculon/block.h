#pragma once

#include <array>

#include "absl/types/span.h"
#include "lib/simulators/calculon/geometry.h"
#include "lib/simulators/calculon/tensor_comm.h"

namespace lmsimbench::calculon {

/// What is done with a layer at its place in the block; without a flag, nothing
/// is repeated and activation and output are stored.
using LayerFlags = unsigned;
inline constexpr LayerFlags kRecomputed =
    1;  ///< R: the forward pass is repeated
inline constexpr LayerFlags kRedone =
    2;  ///< C: the forward communication is repeated
inline constexpr LayerFlags kReused =
    4;  ///< its activation is that of another layer
inline constexpr LayerFlags kActivationNotStored = 8;  ///< sAct = false
inline constexpr LayerFlags kOutputNotStored = 16;     ///< sOut = false

/// A layer at its place in the block.
struct BlockLayer {
  const char* name = nullptr;
  const Layer* layer = nullptr;
  LayerFlags flags = 0;
  const Communication* communication = nullptr;  ///< null where there is none

  bool Has(LayerFlags flag) const { return (flags & flag) != 0; }
};

/// The layers of one transformer block, in order. Equal layers are priced once;
/// so the block points into itself and is not copied.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Prices the layers of a block; the execution is legal for the application,
  /// and pricing covers every amount from 0 on.
  void Build(const Application& application, const Execution& execution,
             const Geometry& geometry, const Pricing& pricing,
             const TensorGroup& group);

  absl::Span<const BlockLayer> Layers() const {
    return {layers_.data(), size_};
  }

  /// The weights of the layers that have some, in order.
  absl::Span<const Weights* const> LayerWeights() const {
    return {weights_.data(), weights_size_};
  }

  /// The layers that communicate, in order.
  absl::Span<const BlockLayer* const> Communicating() const {
    return {communicating_.data(), communicating_size_};
  }

 private:
  struct Part;
  void BuildAttention(const Part& part);
  void BuildMlp(const Part& part);
  void Add(const char* name, const Layer& layer, LayerFlags flags,
           const Communication* communication = nullptr) {
    if (communication != nullptr)
      communicating_[communicating_size_++] = &layers_[size_];
    if (layer.has_weights) weights_[weights_size_++] = &layer.weights;
    layers_[size_++] = {name, &layer, flags, communication};
  }

  static constexpr size_t kMostLayers = 24;
  std::array<BlockLayer, kMostLayers> layers_;
  size_t size_ = 0;
  std::array<const Weights*, kMostLayers> weights_;
  size_t weights_size_ = 0;
  std::array<const BlockLayer*, kMostLayers> communicating_;
  size_t communicating_size_ = 0;

  // Named by what they do in the block; those of the attention serve the MLP
  // too where they are equal.
  Layer fork_;
  Layer layer_norm_;
  Layer gather_;
  Layer heads_fork_;
  Layer query_;
  Layer key_;
  Layer scores_;
  Layer softmax_;
  Layer scores_dropout_;
  Layer context_;
  Layer projection_;
  Layer reduce_;
  Layer dropout_;
  Layer residual_;
  Layer mlp1_;
  Layer gelu_;
  Layer mlp2_;
  Communication gather_communication_;
  Communication reduce_communication_;
  Communication query_communication_;
  Communication projection_communication_;
  Communication mlp1_communication_;
  Communication mlp2_communication_;
};

}  // namespace lmsimbench::calculon
