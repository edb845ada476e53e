#pragma once

#include "lmsimbench/model_spec.h"

namespace lmsimbench {

/// Architectures of public models, as their published configurations say.

inline ModelSpec DenseGated(const char* name, int64_t hidden, int64_t layers,
                            int64_t heads, int64_t kv_heads, int64_t ffn,
                            int64_t vocab) {
  ModelSpec model;
  model.name = name;
  model.hidden = hidden;
  model.layers = layers;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.ffn = ffn;
  model.vocab = vocab;
  model.gated_mlp = YesNo::kYes;
  model.tied_embeddings = YesNo::kNo;
  model.norm = NormKind::kRmsNorm;
  return model;
}

inline ModelSpec Llama2_7B() {
  return DenseGated("llama-2-7b", 4096, 32, 32, 32, 11008, 32000);
}
inline ModelSpec Llama3_8B() {
  return DenseGated("llama-3-8b", 4096, 32, 32, 8, 14336, 128256);
}
inline ModelSpec Llama3_70B() {
  return DenseGated("llama-3-70b", 8192, 80, 64, 8, 28672, 128256);
}

inline ModelSpec Gpt3_175B() {
  ModelSpec model = DenseGated("gpt-3", 12288, 96, 96, 96, 49152, 51200);
  model.gated_mlp = YesNo::kNo;
  model.tied_embeddings = YesNo::kYes;
  model.norm = NormKind::kLayerNorm;
  return model;
}

inline ModelSpec Gpt2Small() {
  ModelSpec model = DenseGated("gpt-2", 768, 12, 12, 12, 3072, 50257);
  model.gated_mlp = YesNo::kNo;
  model.tied_embeddings = YesNo::kYes;
  model.norm = NormKind::kLayerNorm;
  model.qkv_bias = YesNo::kYes;
  model.linear_bias = YesNo::kYes;
  model.positions = PositionKind::kLearned;
  model.max_positions = 1024;
  return model;
}

inline ModelSpec Qwen3_30B_A3B() {
  ModelSpec model = DenseGated("qwen3-30b-a3b", 2048, 48, 32, 4, 6144, 151936);
  model.head_dim = 128;
  model.qk_norm = YesNo::kYes;
  model.experts = 128;
  model.top_k = 8;
  model.expert_ffn = 768;
  return model;
}

inline ModelSpec DeepSeekV2Lite() {
  ModelSpec model =
      DenseGated("deepseek-v2-lite", 2048, 27, 16, 16, 10944, 102400);
  model.attention = AttentionKind::kLatent;
  model.q_lora_rank = 0;
  model.kv_lora_rank = 512;
  model.qk_nope_head_dim = 128;
  model.qk_rope_head_dim = 64;
  model.v_head_dim = 128;
  model.experts = 64;
  model.top_k = 6;
  model.expert_ffn = 1408;
  model.shared_experts = 2;
  model.dense_first_layers = 1;
  return model;
}

inline ModelSpec DeepSeekV3() {
  ModelSpec model =
      DenseGated("deepseek-v3", 7168, 61, 128, 128, 18432, 129280);
  model.attention = AttentionKind::kLatent;
  model.q_lora_rank = 1536;
  model.kv_lora_rank = 512;
  model.qk_nope_head_dim = 128;
  model.qk_rope_head_dim = 64;
  model.v_head_dim = 128;
  model.experts = 256;
  model.top_k = 8;
  model.expert_ffn = 2048;
  model.shared_experts = 1;
  model.dense_first_layers = 3;
  return model;
}

inline ModelSpec GptOss20B() {
  ModelSpec model = DenseGated("gpt-oss-20b", 2880, 24, 64, 8, 2880, 201088);
  model.head_dim = 64;
  model.qkv_bias = YesNo::kYes;
  model.linear_bias = YesNo::kYes;
  model.experts = 32;
  model.top_k = 4;
  model.expert_ffn = 2880;
  return model;
}

inline ModelSpec Gemma2_9B() {
  ModelSpec model = DenseGated("gemma-2-9b", 3584, 42, 16, 8, 14336, 256000);
  model.head_dim = 256;
  model.tied_embeddings = YesNo::kYes;
  model.norms_per_layer = 4;
  model.sliding_window = 4096;
  model.sliding_window_period = 2;
  return model;
}

}  // namespace lmsimbench
