#include "lib/simulators/calculon/geometry.h"

namespace lmsimbench::calculon {

ErrorCode Divide(const Application& app, const Execution& e,
                 Geometry& geometry) {
  const int64_t rest = app.num_blocks % e.pipeline_par;
  geometry.blocks = app.num_blocks / e.pipeline_par + (rest != 0 ? 1 : 0);
  geometry.missing_blocks = rest != 0 ? e.pipeline_par - rest : 0;
  if (e.pipeline_interleaving > geometry.blocks) return ErrorCode::kPpintTooBig;
  if (geometry.blocks % e.pipeline_interleaving != 0)
    return ErrorCode::kPpintNotFactor;

  constexpr int64_t kFewestBlocksToOffload = 3;
  if ((e.weight_offload || e.activations_offload || e.optimizer_offload) &&
      geometry.blocks < kFewestBlocksToOffload) {
    return ErrorCode::kOffloadFewBlocks;
  }
  geometry.chunk_blocks = geometry.blocks / e.pipeline_interleaving;
  geometry.base_blocks = geometry.chunk_blocks - 1;
  geometry.microbatches = e.batch_size / e.data_par / e.microbatch_size;

  const int64_t tokens = e.microbatch_size * app.seq_size;
  const bool split_transfers = e.tensor_par_comm_type != TensorComm::kAllReduce;
  if (split_transfers && tokens % e.tensor_par != 0)
    return ErrorCode::kSeqDivTp;
  if (app.hidden % e.tensor_par != 0) return ErrorCode::kHiddenDivTp;
  if (app.feedforward % e.tensor_par != 0) return ErrorCode::kFfDivTp;
  if (app.attn_heads % e.tensor_par != 0) return ErrorCode::kHeadsDivTp;

  geometry.split_sequence = e.tensor_par_comm_type == TensorComm::kRsAg;
  geometry.tokens = static_cast<double>(tokens);
  geometry.activation = geometry.tokens * static_cast<double>(app.hidden);
  geometry.activation_shard = split_transfers
                                  ? static_cast<double>(tokens / e.tensor_par) *
                                        static_cast<double>(app.hidden)
                                  : 0;
  return ErrorCode::kNone;
}

}  // namespace lmsimbench::calculon
