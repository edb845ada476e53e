#include "lib/simulators/calculon/check.h"

#include <cmath>

namespace lmsimbench::calculon {
namespace {

// Whether a x b x c == product; a product too large for 64 bits equals nothing.
bool IsProduct(int64_t a, int64_t b, int64_t c, int64_t product) {
  int64_t result = 0;
  return !__builtin_mul_overflow(a, b, &result) &&
         !__builtin_mul_overflow(result, c, &result) && result == product;
}

// The tier that an index in [-count, count) names.
int64_t Tier(int64_t index, int64_t count) {
  return index < 0 ? index + count : index;
}

}  // namespace

ErrorCode CheckExecution(const Execution& e) {
  if (e.num_procs <= 0) return ErrorCode::kExeNumProcsPos;
  if (e.tensor_par <= 0) return ErrorCode::kExeTpPos;
  if (e.pipeline_par <= 0) return ErrorCode::kExePpPos;
  if (e.data_par <= 0) return ErrorCode::kExeDpPos;
  if (!IsProduct(e.tensor_par, e.pipeline_par, e.data_par, e.num_procs)) {
    return ErrorCode::kExeProduct;
  }
  if (e.batch_size <= 0) return ErrorCode::kExeBatchPos;
  if (e.microbatch_size <= 0) return ErrorCode::kExeMbsPos;
  if (e.batch_size % e.data_par != 0) return ErrorCode::kExeBatchDivDp;
  if (e.batch_size / e.data_par % e.microbatch_size != 0)
    return ErrorCode::kExeLocalDivMbs;
  if (e.attention_type == AttentionType::kOther)
    return ErrorCode::kExeAttentionType;
  if (e.activation_recompute == Recompute::kOther)
    return ErrorCode::kExeRecomputeEnum;
  if (e.activation_recompute != Recompute::kNone && !e.training) {
    return ErrorCode::kExeRecomputeTraining;
  }
  if (e.pipeline_interleaving <= 0) return ErrorCode::kExeInterleavePos;
  if (e.pipeline_par == 1 && e.pipeline_interleaving != 1)
    return ErrorCode::kExeInterleavePp1;
  if (e.optimizer_sharding && e.data_par == 1) return ErrorCode::kExeOptshardDp;
  if (e.tensor_par_comm_type == TensorComm::kOther)
    return ErrorCode::kExeTpCommEnum;
  if (e.tensor_par_overlap == TensorOverlap::kOther)
    return ErrorCode::kExeTpOverlapEnum;
  if (e.tensor_par_overlap != TensorOverlap::kNone && e.tensor_par == 1) {
    return ErrorCode::kExeTpOverlapTp1;
  }
  if (e.seq_par_ag_redo) {
    if (e.tensor_par_comm_type != TensorComm::kRsAg)
      return ErrorCode::kExeAgredoRsag;
    if (e.activation_recompute == Recompute::kFull)
      return ErrorCode::kExeAgredoFull;
  }
  if (e.data_par_overlap) {
    if (!e.training) return ErrorCode::kExeDpovlTraining;
    if (e.data_par == 1) return ErrorCode::kExeDpovlDp1;
  }
  if (e.optimizer_offload && !e.training) return ErrorCode::kExeOptoffTraining;
  return ErrorCode::kNone;
}

ErrorCode Place(const Execution& e, const System& system,
                Placement& placement) {
  const auto count = static_cast<int64_t>(system.networks.size());
  if (e.tensor_par_net >= count) return ErrorCode::kNetTpId;
  if (e.pipeline_par_net >= count) return ErrorCode::kNetPpId;
  if (e.data_par_net >= count) return ErrorCode::kNetDpId;
  const int64_t tensor = Tier(e.tensor_par_net, count);
  const int64_t pipeline = Tier(e.pipeline_par_net, count);
  const int64_t data = Tier(e.data_par_net, count);
  if (tensor < 0 || pipeline < 0 || data < 0) return ErrorCode::kNetIdBelow;

  placement.tensor = &system.networks[static_cast<size_t>(tensor)];
  placement.pipeline = &system.networks[static_cast<size_t>(pipeline)];
  placement.data = &system.networks[static_cast<size_t>(data)];
  for (int64_t tier = 0; tier < count; ++tier) {
    const int64_t used = (tensor == tier ? e.tensor_par : 1) *
                         (pipeline == tier ? e.pipeline_par : 1) *
                         (data == tier ? e.data_par : 1);
    if (used == 1) continue;
    const Network& network = system.networks[static_cast<size_t>(tier)];
    const auto participants = static_cast<double>(used);
    if (participants > network.size) return ErrorCode::kNetTooSmall;
    if (network.must_be_filled && std::fmod(network.size, participants) != 0) {
      return ErrorCode::kNetNotFilled;
    }
  }
  return ErrorCode::kNone;
}

}  // namespace lmsimbench::calculon
