#include "lib/compile/chunks.h"

#include <algorithm>
#include <numeric>

#include "absl/container/inlined_vector.h"
#include "lib/compile/blocks.h"
#include "lib/core/arithmetic.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::compile {
namespace {

// What decides the steps of a block of layers.
struct LayerKey {
  int64_t first_layer_in_period = 0;
  int32_t layers = 1;
  /// Of them, those in front without experts.
  int64_t dense = 0;
  bool recomputed = false;

  friend bool operator==(const LayerKey& a, const LayerKey& b) {
    return a.first_layer_in_period == b.first_layer_in_period &&
           a.layers == b.layers && a.dense == b.dense &&
           a.recomputed == b.recomputed;
  }
};

// Builds each block once.
class Blocks {
 public:
  Blocks(const Sizes& sizes, Program& program)
      : sizes_(sizes),
        program_(program),
        operators_(AddLayerOperators(sizes, program)) {}

  const LayerOperators& operators() const { return operators_; }

  int32_t Layers(int64_t first_layer, int32_t layers, bool recomputed) {
    LayerKey key;
    key.layers = layers;
    key.recomputed = recomputed;
    if (sizes_.expert.experts > 0) {
      key.dense = std::clamp<int64_t>(sizes_.expert.dense_first - first_layer,
                                      0, layers);
    }
    if (layers == 1) {
      // One layer is windowed or not, wherever in the period it lies.
      key.first_layer_in_period = IsWindowed(sizes_, first_layer) ? 1 : 0;
    } else if (sizes_.window > 0) {
      key.first_layer_in_period = first_layer % sizes_.window_period;
    }
    for (const auto& [known, block] : known_) {
      if (known == key) return block;
    }
    const int32_t block = AddLayerBlock(sizes_, operators_, first_layer, layers,
                                        recomputed, program_);
    known_.emplace_back(key, block);
    return block;
  }

 private:
  const Sizes& sizes_;
  Program& program_;
  LayerOperators operators_;
  absl::InlinedVector<std::pair<LayerKey, int32_t>, 16> known_;
};

void AddRun(int32_t block, int32_t begin_run, Program& program) {
  auto& runs = program.runs;
  if (static_cast<int32_t>(runs.size()) > begin_run &&
      runs.back().block == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

bool SameRuns(const Program& program, const Chunk& a, const Chunk& b) {
  const auto left = Runs(program, a);
  const auto right = Runs(program, b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const BlockRun& x, const BlockRun& y) {
                      return x.block == y.block && x.count == y.count;
                    });
}

// The index of an equal chunk, where the new one is taken back, or its own.
int32_t Intern(const Chunk& chunk, Program& program) {
  for (size_t i = 0; i < program.chunks.size(); ++i) {
    if (SameRuns(program, program.chunks[i], chunk)) {
      program.runs.resize(chunk.begin_run);
      return static_cast<int32_t>(i);
    }
  }
  program.chunks.push_back(chunk);
  Chunk& added = program.chunks.back();
  for (const BlockRun& run : Runs(program, chunk)) {
    const Block& block = program.blocks[run.block];
    added.layers += int64_t{run.count} * block.layers;
    added.parameters += run.count * block.parameters;
    added.replicated_parameters += run.count * block.replicated_parameters;
    added.expert_parameters += run.count * block.expert_parameters;
    added.stored_bytes += run.count * block.stored_bytes;
  }
  return static_cast<int32_t>(program.chunks.size()) - 1;
}

// Whether the first and the last part of the network lie on different ranks.
bool EndsApart(const ParallelConfig& config) {
  return config.pp > 1 && !IsVShaped(config.schedule) &&
         config.schedule != Schedule::kDualPipe;
}

}  // namespace

void AddChunks(const Sizes& sizes, const ParallelConfig& config,
               Program& program) {
  Blocks blocks(sizes, program);
  const EmbeddingOperators embedding_operators =
      AddEmbeddingOperators(sizes, program);
  const int32_t embedding =
      AddEmbeddingBlock(sizes, embedding_operators, program);
  const HeadParts head_parts = AddHeadParts(sizes, program);
  const bool apart = EndsApart(config);
  const bool owns_output = !sizes.tied_embeddings || apart;
  const int32_t head = AddHeadBlock(sizes, head_parts, blocks.operators().norm,
                                    owns_output, program);
  MultiTokenOperators multi_token;
  if (sizes.multi_token_layers > 0) {
    multi_token = AddMultiTokenOperators(sizes, program);
    multi_token.embedding = embedding_operators.embedding;
  }
  // Predicting further tokens the last stage embeds them, too.
  const bool copies_embedding = apart && !sizes.tied_embeddings;
  const size_t chunks = program.chunk_layers.size();
  int64_t layer = 0;
  for (size_t i = 0; i < chunks; ++i) {
    const int64_t layers = program.chunk_layers[i];
    Chunk chunk;
    chunk.begin_run = static_cast<int32_t>(program.runs.size());
    if (i == 0) AddRun(embedding, chunk.begin_run, program);
    const RecomputedLayers recomputed = RecomputedOf(config, layers);
    const int64_t end = layer + layers;
    const int64_t recomputed_end = layer + recomputed.layers;
    while (layer < end) {
      const bool again = layer < recomputed_end;
      const int64_t group =
          again ? std::min(recomputed.group, recomputed_end - layer) : 1;
      AddRun(blocks.Layers(layer, static_cast<int32_t>(group), again),
             chunk.begin_run, program);
      layer += group;
    }
    if (i + 1 == chunks) {
      for (int64_t k = 0; k < sizes.multi_token_layers; ++k) {
        MultiTokenBlock block;
        block.layer = sizes.layers + k;
        block.owns_embedding = k == 0 && copies_embedding;
        block.recomputed = config.recompute == Recompute::kFull;
        AddRun(AddMultiTokenBlock(sizes, blocks.operators(), head_parts,
                                  multi_token, block, program),
               chunk.begin_run, program);
      }
      AddRun(head, chunk.begin_run, program);
    }
    chunk.end_run = static_cast<int32_t>(program.runs.size());
    program.chunk_kind.push_back(Intern(chunk, program));
  }
  if (apart && (sizes.tied_embeddings || sizes.multi_token_layers > 0)) {
    program.shared_embedding_parameters = sizes.vocab * sizes.hidden;
  }
  if (!owns_output) program.tied_parameters = sizes.vocab * sizes.hidden;
}

void AddStages(const Sizes& sizes, const ParallelConfig& config,
               Program& program) {
  const auto share = [](int64_t parameters, int64_t bytes, int64_t shards) {
    return CeilDivide(parameters * bytes, shards);
  };
  program.stages.resize(static_cast<size_t>(config.pp));
  for (Stage& stage : program.stages) stage = Stage();
  for (size_t i = 0; i < program.chunk_kind.size(); ++i) {
    const Chunk& chunk = program.chunks[program.chunk_kind[i]];
    const int64_t rank = RankOfChunk(config, static_cast<int64_t>(i));
    for (const int64_t holder : {rank, RankOfCopy(config, rank)}) {
      if (holder < 0) continue;
      Stage& stage = program.stages[holder];
      stage.layers += chunk.layers;
      stage.parameters += chunk.parameters;
      stage.replicated_parameters += chunk.replicated_parameters;
      stage.expert_parameters += chunk.expert_parameters;
    }
  }
  // Experts are sharded over the ranks that hold the same ones, all else over
  // those of data and context parallelism.
  const auto sharded = [&](const Stage& stage, int64_t bytes, bool shards) {
    const int64_t experts = stage.expert_parameters;
    return share(stage.parameters - experts, bytes,
                 shards ? sizes.state_shards : 1) +
           share(experts, bytes, shards ? sizes.expert.shards : 1);
  };
  for (size_t i = 0; i < program.stages.size(); ++i) {
    Stage& stage = program.stages[i];
    stage.weights_bytes =
        sharded(stage, sizes.kept_weight_bytes, sizes.shards_weights);
    stage.gradients_bytes =
        sharded(stage, sizes.kept_gradient_bytes, sizes.shards_gradients);
    stage.optimizer_bytes =
        sharded(stage, sizes.optimizer_bytes, sizes.shards_optimizer);
    stage.host_bytes = sharded(stage, sizes.host_bytes, sizes.shards_optimizer);
    const auto same =
        std::find_if(program.stages.begin(), program.stages.begin() + i,
                     [&](const Stage& s) {
                       return s.parameters == stage.parameters &&
                              s.expert_parameters == stage.expert_parameters;
                     });
    if (same != program.stages.begin() + i) {
      stage.gradient_norm = same->gradient_norm;
      stage.optimizer = same->optimizer;
      stage.gradients_to_host = same->gradients_to_host;
      stage.weights_to_device = same->weights_to_device;
      continue;
    }
    const int64_t updated = sharded(stage, 1, sizes.shards_optimizer);
    stage.gradient_norm = AddGradientNorm(sizes, updated, program);
    if (sizes.host_bytes == 0) {
      stage.optimizer = AddOptimizer(sizes, updated, program);
      continue;
    }
    stage.gradients_to_host =
        AddHostCopy(sizes, updated, sizes.kept_gradient_bytes, program);
    stage.optimizer = AddHostOptimizer(sizes, updated, program);
    stage.weights_to_device =
        AddHostCopy(sizes, updated, sizes.weight_bytes, program);
  }
}

}  // namespace lmsimbench::compile
