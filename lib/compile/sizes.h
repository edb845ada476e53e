#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/program.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::compile {

/// How latent attention compresses; all 0 where attention is not latent.
struct LatentSizes {
  int64_t q_rank = 0;  ///< 0: queries are not compressed
  int64_t kv_rank = 0;
  int64_t rope = 0;  ///< width of the part of a head with positions
  int64_t nope = 0;  ///< of the part without

  bool is_used() const { return kv_rank > 0; }
};

/// How the tokens of a sequence meet where context parallelism divides it: in
/// the core of attention, `inner` ranks have exchanged tokens for heads, and
/// `outer` parts of the sequence meet in a ring, or keys and values are
/// gathered from them.
struct ContextSizes {
  int64_t inner = 1;
  int64_t outer = 1;
  bool gathers = false;  ///< else a ring
};

/// Experts of one device.
struct ExpertSizes {
  int64_t experts = 0;  ///< of the model; 0: none
  int64_t local = 0;    ///< of the device
  int64_t top_k = 0;
  int64_t ffn = 0;  ///< inner width of one, over expert tensor ranks
  int64_t shared_experts = 0;
  int64_t shared_ffn = 0;  ///< of all shared experts, over tensor ranks
  int64_t dense_first = 0;
  int64_t ep = 1;
  int64_t etp = 1;
  int64_t shards = 1;  ///< devices that hold the same part of an expert
  /// Tokens that this device sends to experts, each `top_k` times.
  int64_t tokens = 0;
  /// Copies of tokens that it sends, and that its experts work on.
  int64_t sent = 0;
  int64_t received = 0;
  bool gathers = false;  ///< tokens are gathered, not sent all-to-all
  bool grouped = true;
  bool overlaps = false;  ///< communication beside shared experts
};

/// True if what arrives has to be brought into the order of the experts: from
/// every sender it comes in that order, and there are several of either.
inline bool Sorts(const ExpertSizes& expert) {
  return !expert.gathers && expert.ep > 1 && expert.local > 1;
}

/// What one device does and keeps, in numbers: a workload and a configuration
/// with every open choice made. Sizes of a tensor-parallel rank.
struct Sizes {
  int64_t sequences = 0;  ///< of a micro-batch
  int64_t seq_len = 0;
  int64_t tokens = 0;         ///< of a micro-batch, of this context rank
  int64_t region_tokens = 0;  ///< between the tensor-parallel regions
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t value_head_dim = 0;
  int64_t query_width = 0;     ///< heads * head_dim
  int64_t key_width = 0;       ///< kv_heads * head_dim
  int64_t value_width = 0;     ///< kv_heads * value_head_dim
  int64_t attended_width = 0;  ///< heads * value_head_dim
  int64_t ffn = 0;
  int64_t ffn_inputs = 1;  ///< 2 for a gated MLP
  int64_t vocab = 0;
  int64_t positions = 0;        ///< rows of the position table, 0: none
  int64_t norm_parameters = 0;  ///< of one norm
  int64_t norms_per_layer = 2;
  int64_t window = 0;  ///< 0: every layer attends to the whole sequence
  int64_t window_period = 1;
  int64_t loss_chunk = 0;  ///< 0: the loss is not chunked
  int64_t layers = 0;      ///< of the model
  int64_t multi_token_layers = 0;

  LatentSizes latent;
  ContextSizes context;
  ExpertSizes expert;

  int64_t tp = 1;
  int64_t state_shards = 1;  ///< devices that share one copy of sharded state

  bool sequence_parallel = false;
  bool flash = true;
  bool causal = true;
  bool dropout = false;
  bool qk_norm = false;
  bool rotary = false;
  bool qkv_bias = false;
  bool linear_bias = false;
  bool tied_embeddings = false;
  bool fused_loss = false;
  bool fused_norm = true;
  /// Collectives of a block run beside its computations.
  bool overlap_tensor = false;

  /// Formats of matrix multiplications and of all else, and bytes of an
  /// activation and of an input of a matrix multiplication.
  Precision matrix_precision = Precision::kBf16;
  Precision precision = Precision::kBf16;
  int64_t bytes = 2;
  int64_t matrix_bytes = 2;

  /// Bytes of the state of one parameter.
  int64_t weight_bytes = 2;
  int64_t gradient_bytes = 4;
  /// As they are kept, where that is not how they are used and reduced.
  int64_t kept_weight_bytes = 2;
  int64_t kept_gradient_bytes = 4;
  int64_t optimizer_bytes = 12;
  /// State of the optimizer in the memory of the host; 0: it is on the device.
  int64_t host_bytes = 0;
  StateTable state_table = StateTable::kMegatronBf16;
  bool shards_optimizer = false;
  bool shards_gradients = false;
  bool shards_weights = false;

  /// What is recomputed in the layers that are not recomputed as a whole.
  bool recompute_attention = false;
  bool recompute_norm = false;
  bool recompute_activation = false;
  bool recompute_mlp = false;

  uint32_t assumptions = 0;
};

/// Makes every open choice. UNIMPLEMENTED names what `Compile` does not model,
/// FAILED_PRECONDITION the figure that is missing.
absl::Status MakeSizes(const Workload& workload, const ParallelConfig& config,
                       Sizes& sizes);

/// Number of layers whose input alone is kept, from the first layer of a chunk
/// of `layers`, and how many of them share one kept input.
struct RecomputedLayers {
  int64_t layers = 0;
  int64_t group = 1;
};
RecomputedLayers RecomputedOf(const ParallelConfig& config, int64_t layers);

}  // namespace lmsimbench::compile
