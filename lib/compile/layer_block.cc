#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "lib/compile/block_builder.h"
#include "lib/compile/blocks.h"
#include "lib/compile/layer_emitter.h"

namespace lmsimbench::compile {

bool IsWindowed(const Sizes& sizes, int64_t layer) {
  if (sizes.window == 0) return false;
  return sizes.window_period == 1 || (layer + 1) % sizes.window_period != 0;
}

bool IsSparse(const Sizes& sizes, int64_t layer) {
  return sizes.expert.experts > 0 && layer >= sizes.expert.dense_first;
}

Collective GatherActivations(const Sizes& sizes, int64_t width) {
  return {CollectiveKind::kAllGather, Group::kTensor,
          sizes.tokens * width * sizes.bytes};
}

Collective ReduceActivations(const Sizes& sizes, int64_t width) {
  return {sizes.sequence_parallel ? CollectiveKind::kReduceScatter
                                  : CollectiveKind::kAllReduce,
          Group::kTensor, sizes.tokens * width * sizes.bytes};
}

int32_t AddLayerBlock(const Sizes& sizes, const LayerOperators& operators,
                      int64_t first_layer, int32_t layers, bool recomputed,
                      Program& program) {
  BlockBuilder builder(BlockKind::kLayers, layers, program);
  LayerEmitter emitter(sizes, operators, builder);
  absl::InlinedVector<LayerTensors, 16> kept(static_cast<size_t>(layers));

  const TensorId input = builder.Arrives("layer input", TensorKind::kTemporary,
                                         emitter.stream_bytes());
  const auto forward = [&] {
    TensorId stream = input;
    for (int32_t layer = 0; layer < layers; ++layer) {
      kept[layer] = emitter.Forward(first_layer + layer, stream);
      stream = kept[layer].output;
    }
  };
  forward();

  builder.BeginBackward();
  TensorId gradient = builder.Arrives("output gradient", TensorKind::kTemporary,
                                      emitter.stream_bytes());
  if (recomputed) {
    builder.SetRecomputed(true);
    forward();
    builder.SetRecomputed(false);
  }
  for (int32_t layer = layers - 1; layer >= 0; --layer) {
    gradient = emitter.Backward(first_layer + layer, kept[layer], gradient,
                                recomputed);
  }
  return builder.Finish();
}

}  // namespace lmsimbench::compile
