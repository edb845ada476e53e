#pragma once

#include <cstdint>

#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// A model of Korthikanti et al., arXiv 2205.05198, with the activations that
/// its Figure 1 shows for the first stage, in GiB.
struct KorthikantiCase {
  const char* name;
  int64_t layers, hidden, heads, micro_batch, global_batch, pp, vpp;
  double none_gib;       ///< nothing recomputed, no sequence parallelism
  double selective_gib;  ///< selective recomputation, sequence parallelism
};

/// Layers, widths and batches: Table 3 of the paper; tp 8 and 2048 tokens in
/// all. 530B has 105 layers over 35 stages of 3 chunks.
inline constexpr KorthikantiCase kKorthikanti[] = {
    {"22B", 48, 6144, 64, 4, 4, 1, 1, 59.25, 9.5625},
    {"175B", 96, 12288, 96, 1, 64, 8, 3, 66.84375, 12.3515625},
    {"530B", 105, 20480, 128, 1, 280, 35, 3, 114.0234375, 23.076171875},
    {"1T", 128, 25600, 160, 1, 512, 64, 1, 131.25, 26.5625},
};

/// As the paper counts: attention not fused, dropout, 16 bits, an MLP of four
/// times the width without a gate, LayerNorm.
inline Workload WorkloadOf(const KorthikantiCase& c) {
  Workload workload;
  ModelSpec& model = workload.model;
  model.name = c.name;
  model.layers = c.layers;
  model.hidden = c.hidden;
  model.heads = model.kv_heads = c.heads;
  model.ffn = 4 * c.hidden;
  model.gated_mlp = YesNo::kNo;
  model.vocab = 51200;
  model.dropout = 0.1;
  model.norm = NormKind::kLayerNorm;
  workload.seq_len = 2048;
  workload.global_batch = c.global_batch;
  workload.precision = Precision::kFp16;
  workload.attention_impl = AttentionImpl::kUnfused;
  return workload;
}

inline ParallelConfig ConfigOf(const KorthikantiCase& c, bool selective) {
  ParallelConfig config;
  config.tp = 8;
  config.pp = c.pp;
  config.vpp = c.vpp;
  config.micro_batch = c.micro_batch;
  config.placement = StagePlacement::kEven;
  config.sequence_parallel = selective ? YesNo::kYes : YesNo::kNo;
  config.recompute = selective ? Recompute::kSelective : Recompute::kNone;
  return config;
}

/// Chunk activations that the first rank holds at once: Megatron-LM's warm-up
/// of 2 (p - 1) + (v - 1) p passes and one more; without virtual stages p.
inline int64_t ChunksInFlight(const KorthikantiCase& c) {
  return c.vpp > 1 ? 2 * (c.pp - 1) + (c.vpp - 1) * c.pp + 1 : c.pp;
}

}  // namespace lmsimbench
