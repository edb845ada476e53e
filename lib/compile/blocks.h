#pragma once

#include <cstdint>

#include "lib/compile/head_emitter.h"
#include "lib/compile/operators.h"
#include "lib/compile/sizes.h"
#include "lmsimbench/program.h"

namespace lmsimbench::compile {

/// \{ Append a block to the program and return its index.

/// `layers` transformer layers, the first of which is layer `first_layer` of
/// the model. With `recomputed` only the input of the first is kept and the
/// backward pass runs all of them again; then a block of several layers is what
/// is recomputed at once. Else it is one layer.
int32_t AddLayerBlock(const Sizes& sizes, const LayerOperators& operators,
                      int64_t first_layer, int32_t layers, bool recomputed,
                      Program& program);
/// The embedding, with its position table.
int32_t AddEmbeddingBlock(const Sizes& sizes, const EmbeddingOperators& ops,
                          Program& program);
/// Final norm, output layer and loss. `owns_output`: the output layer has
/// weights of its own here, rather than those of an embedding in this chunk's
/// stage.
int32_t AddHeadBlock(const Sizes& sizes, const HeadParts& parts,
                     const Elementwise& norm, bool owns_output,
                     Program& program);
/// A layer that predicts one token more: it joins the stream with the embedding
/// of the next token, has a transformer layer of the kind of layer `layer` of
/// the model, and a head. Embedding and output layer are those of the model.
/// `owns_embedding`: the stage has no embedding but this. `recomputed`: the
/// transformer layer runs again in the backward pass.
struct MultiTokenBlock {
  int64_t layer = 0;
  bool owns_embedding = false;
  bool recomputed = false;
};
int32_t AddMultiTokenBlock(const Sizes& sizes, const LayerOperators& layer,
                           const HeadParts& head,
                           const MultiTokenOperators& operators,
                           const MultiTokenBlock& block, Program& program);
/// \}

/// Whether a layer of the model attends to the window only.
bool IsWindowed(const Sizes& sizes, int64_t layer);
/// Whether a layer of the model has experts.
bool IsSparse(const Sizes& sizes, int64_t layer);

/// \{ Collectives around tensor-parallel regions: with sequence parallelism
/// activations are gathered before a region and reduced and scattered behind
/// it; without it they are reduced behind it. Of `width` channels.
Collective GatherActivations(const Sizes& sizes, int64_t width);
Collective ReduceActivations(const Sizes& sizes, int64_t width);
/// \}

}  // namespace lmsimbench::compile
