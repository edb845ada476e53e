#include "lib/simulators/calculon/evaluate.h"

#include <algorithm>
#include <cmath>

#include "lib/simulators/calculon/batch.h"
#include "lib/simulators/calculon/check.h"
#include "lib/simulators/calculon/data_parallel.h"
#include "lib/simulators/calculon/memory.h"
#include "lib/simulators/calculon/sanity.h"

namespace lmsimbench::calculon {
namespace {

// Counts below 2^31 keep every product of two of them within 64 bits.
ErrorCode CheckRange(const Application& app, const Execution& e) {
  const int64_t all_bits = app.hidden | app.feedforward | app.seq_size |
                           app.attn_heads | app.attn_size | app.num_blocks |
                           e.num_procs | e.batch_size | e.microbatch_size |
                           e.pipeline_interleaving;
  return (all_bits >> 31) != 0 ? ErrorCode::kValueRange : ErrorCode::kNone;
}

ErrorCode CheckCoverage(const RateTable& table, ErrorCode uncovered) {
  const double rate = table.Rate(0);
  if (std::isnan(rate)) return uncovered;
  return rate == 0 ? ErrorCode::kDiv0Other : ErrorCode::kNone;
}

// Finds the tables and makes sure that they answer every amount. A block asks
// each of them about 0: the vector engine and the memory by its first layer, a
// fork; the matrix engine by a layer without weight gradients. (The original
// prices all stages in inference too, for a text it then drops.) So a table is
// too short for some layer exactly if it does not reach down to 0.
ErrorCode MakePricing(const System& system, const Execution& e,
                      Pricing& pricing) {
  if (e.datatype == Datatype::kOther) return ErrorCode::kSysDatatype;
  const auto& vector = system.vector.tables[static_cast<size_t>(e.datatype)];
  if (!vector.has_value()) return ErrorCode::kProcDatatype;
  ErrorCode code = CheckCoverage(*vector, ErrorCode::kProcUncovered);
  if (code != ErrorCode::kNone) return code;
  code = CheckCoverage(system.mem1.rate, ErrorCode::kMemUncovered);
  if (code != ErrorCode::kNone) return code;
  const auto& matrix = system.matrix.tables[static_cast<size_t>(e.datatype)];
  if (!matrix.has_value()) return ErrorCode::kProcDatatype;
  code = CheckCoverage(*matrix, ErrorCode::kProcUncovered);
  if (code != ErrorCode::kNone) return code;

  pricing.matrix = &*matrix;
  pricing.vector = &*vector;
  pricing.memory = &system.mem1.rate;
  pricing.roofline = system.roofline;
  pricing.element_bytes = BytesPerElement(e.datatype);
  pricing.master_bytes = pricing.element_bytes < 4 ? 4 : 0;
  pricing.shards = e.optimizer_sharding ? static_cast<double>(e.data_par) : 1;
  return ErrorCode::kNone;
}

// A tiled product without work has no bandwidth that would hide its
// communication.
ErrorCode CheckOverlappedWork(const Application& app, const Execution& e) {
  if (e.tensor_par_overlap == TensorOverlap::kNone) return ErrorCode::kNone;
  const bool work = app.hidden != 0 && app.feedforward != 0 &&
                    app.seq_size != 0 && app.attn_heads != 0 &&
                    app.attn_size != 0;
  return work ? ErrorCode::kNone : ErrorCode::kDiv0Other;
}

void SetBlockStatistics(const BlockSums& sums, Statistics& s) {
  s.block_fw_flops = sums.forward.flops;
  s.block_fw_flops_time = sums.forward.flops_time;
  s.block_fw_mem_accessed = sums.forward.bytes;
  s.block_fw_mem_time = sums.forward.memory_time;
  s.block_fw_time = sums.forward.time;
  s.baseblock_fw_tp_time = sums.forward_comm.time[kBase];
  s.edgeblock_fw_tp_time = sums.forward_comm.time[kEdge];
  s.baseblock_fw_tp_time_exposed = sums.forward_comm.exposed[kBase];
  s.edgeblock_fw_tp_time_exposed = sums.forward_comm.exposed[kEdge];
  s.block_re_flops = sums.recompute.flops;
  s.block_re_flops_time = sums.recompute.flops_time;
  s.block_re_mem_accessed = sums.recompute.bytes;
  s.block_re_mem_time = sums.recompute.memory_time;
  s.block_re_time = sums.recompute.time;
  s.baseblock_recomm_time = sums.redone_comm.time[kBase];
  s.edgeblock_recomm_time = sums.redone_comm.time[kEdge];
  s.baseblock_recomm_time_exposed = sums.redone_comm.exposed[kBase];
  s.edgeblock_recomm_time_exposed = sums.redone_comm.exposed[kEdge];
  s.block_agrad_flops = sums.activation_grad.flops;
  s.block_agrad_flops_time = sums.activation_grad.flops_time;
  s.block_agrad_mem_accessed = sums.activation_grad.bytes;
  s.block_agrad_mem_time = sums.activation_grad.memory_time;
  s.block_agrad_time = sums.activation_grad.time;
  s.baseblock_agrad_tp_time = sums.activation_grad_comm.time[kBase];
  s.edgeblock_agrad_tp_time = sums.activation_grad_comm.time[kEdge];
  s.baseblock_agrad_tp_time_exposed = sums.activation_grad_comm.exposed[kBase];
  s.edgeblock_agrad_tp_time_exposed = sums.activation_grad_comm.exposed[kEdge];
  s.block_wgrad_flops = sums.weight_grad.flops;
  s.block_wgrad_flops_time = sums.weight_grad.flops_time;
  s.block_wgrad_mem_accessed = sums.weight_grad.bytes;
  s.block_wgrad_mem_time = sums.weight_grad.memory_time;
  s.block_wgrad_time = sums.weight_grad.time;
  s.block_optim_flops = sums.optimizer.flops;
  s.block_optim_flops_time = sums.optimizer.flops_time;
  s.block_optim_mem_accessed = sums.optimizer.bytes;
  s.block_optim_mem_time = sums.optimizer.memory_time;
  s.block_optim_time = sums.optimizer.time;
  s.baseblock_fw_tp_size = sums.forward_comm.size[kBase];
  s.edgeblock_fw_tp_size = sums.forward_comm.size[kEdge];
  s.baseblock_bw_tp_size = sums.activation_grad_comm.size[kBase];
  s.edgeblock_bw_tp_size = sums.activation_grad_comm.size[kEdge];
  s.baseblock_recomm_size = sums.redone_comm.size[kBase];
  s.edgeblock_recomm_size = sums.redone_comm.size[kEdge];
  s.block_fw_pp_size = sums.forward_transfer;
  s.block_bw_pp_size = sums.backward_transfer;
  s.tp_bw_overlap_req = sums.required_tensor_bandwidth;
  s.block_weight_space = sums.weight_space;
  s.block_act_working_space = sums.working_space;
  s.block_act_storage_space = sums.stored_space;
  s.block_act_checkpoint_size = sums.checkpoint_space;
  s.block_weight_grad_space = sums.weight_grad_space;
  s.block_weight_grad_space_no_sharding = sums.weight_grad_space_full;
  s.block_act_grad_space = sums.activation_grad_space;
  s.block_optimizer_space = sums.optimizer_space;
  s.useful_flops = sums.useful_flops;
}

void SetMemoryStatistics(const MemoryUse& use, Statistics& s) {
  s.weight_space_with_offload = use.resident.weight;
  s.act_space_with_offload = use.resident.activation;
  s.act_checkpoint_size_with_offload = use.resident.checkpoint;
  s.act_grad_space_with_offload = use.resident.activation_grad;
  s.weight_grad_space_with_offload = use.resident.weight_grad;
  s.optimizer_space_with_offload = use.resident.optimizer;
  s.weight_space = use.all.weight;
  s.act_space = use.all.activation;
  s.act_checkpoint_size = use.all.checkpoint;
  s.act_grad_space = use.all.activation_grad;
  s.weight_grad_space = use.all.weight_grad;
  s.optimizer_space = use.all.optimizer;
  s.proc_mem_tier1_cap_req = use.tier1;
  s.proc_mem_tier2_cap_req = use.tier2;
}

void SetTimeStatistics(const BatchTimes& batch, const DataParallelTimes& data,
                       Statistics& s) {
  s.block_dp_size = data.block_bytes;
  s.dp_bw_overlap_req_chunk = data.required_bandwidth_chunk;
  s.dp_bw_overlap_req_tail = data.required_bandwidth_tail;
  s.fw_time = batch.forward;
  s.bw_time = batch.backward;
  s.optim_step_time = batch.optimizer;
  s.recompute_time = batch.recompute;
  s.recomm_link_time = batch.redone_link;
  s.recomm_exposed_time = batch.redone_exposed;
  s.bubble_time = batch.bubble;
  s.tp_comm_link_time = batch.tensor_link;
  s.pp_comm_link_time = batch.pipeline_link;
  s.dp_comm_link_time = data.link;
  s.tp_comm_exposed_time = batch.tensor_exposed;
  s.pp_comm_exposed_time = batch.pipeline_link;
  s.dp_comm_exposed_time = data.exposed;
  s.fw_offload_exposed_time = batch.forward_offload_exposed;
  s.bw_offload_exposed_time = batch.backward_offload_exposed;
  s.total_time = s.fw_time + s.bw_time + s.optim_step_time +
                 s.fw_offload_exposed_time + s.bw_offload_exposed_time +
                 s.recompute_time + s.recomm_exposed_time + s.bubble_time +
                 s.tp_comm_exposed_time + s.pp_comm_exposed_time +
                 s.dp_comm_exposed_time;
}

// Bandwidths with which offloading would just be hidden: sizes over the time of
// a block that is not spent on the memory anyway. Asked for even where nothing
// is offloaded.
ErrorCode SetOffloadBandwidths(const Execution& e, const BlockSums& sums,
                               const BatchTimes& batch, Statistics& s) {
  const ByKind& forward = batch.block_forward_unoffloaded;
  const double forward_time = std::min(forward.base - sums.forward.memory_time,
                                       forward.edge - sums.forward.memory_time);
  s.act_offload_bw_req = OffloadedActivations(e, sums) / forward_time;
  s.weight_offload_bw_req = sums.weight_space / forward_time;
  s.optim_offload_bw_req = 0;
  s.offload_mem_bw_req = batch.forward_offload_bytes / forward_time;
  if (forward_time == 0) return ErrorCode::kDiv0ActOffloadBw;
  if (!e.training) return ErrorCode::kNone;

  const ByKind& backward = batch.block_backward_unoffloaded;
  const double memory_time =
      sums.activation_grad.memory_time + sums.weight_grad.memory_time;
  const double backward_time =
      std::min(backward.base - memory_time, backward.edge - memory_time);
  s.optim_offload_bw_req =
      (sums.weight_grad_space + sums.optimizer_space) / backward_time;
  s.offload_mem_bw_req = std::max(s.offload_mem_bw_req,
                                  batch.backward_offload_bytes / backward_time);
  return backward_time == 0 ? ErrorCode::kDiv0OffloadBw : ErrorCode::kNone;
}

ErrorCode SetEfficiencies(const Execution& e, const Geometry& geometry,
                          double peak, Statistics& s) {
  const double computing = s.fw_time + s.bw_time + s.optim_step_time;
  const double perfect =
      static_cast<double>(geometry.blocks * geometry.microbatches) *
      s.useful_flops / peak;
  s.compute_efficiency = perfect / computing;
  s.system_efficiency = computing / s.total_time;
  s.total_efficiency = perfect / s.total_time;
  s.sample_rate = static_cast<double>(e.batch_size) / s.total_time;
  return computing == 0 || s.total_time == 0 ? ErrorCode::kDiv0Other
                                             : ErrorCode::kNone;
}

}  // namespace

ErrorCode Evaluate(const Application& app, const System& system,
                   const Execution& e, Workspace& workspace, Statistics& s) {
  ErrorCode code = CheckExecution(e);
  if (code != ErrorCode::kNone) return code;
  code = CheckRange(app, e);
  if (code != ErrorCode::kNone) return code;
  Placement placement;
  code = Place(e, system, placement);
  if (code != ErrorCode::kNone) return code;
  if (e.datatype == Datatype::kOther) return ErrorCode::kSysDatatype;
  Geometry geometry;
  code = Divide(app, e, geometry);
  if (code != ErrorCode::kNone) return code;
  Pricing pricing;
  code = MakePricing(system, e, pricing);
  if (code != ErrorCode::kNone) return code;
  code = CheckOverlappedWork(app, e);
  if (code != ErrorCode::kNone) return code;

  const TensorGroup group = {placement.tensor, e.tensor_par_comm_type,
                             e.tensor_par_overlap,
                             static_cast<double>(e.tensor_par)};
  workspace.block.Build(app, e, geometry, pricing, group);
  const BlockSums sums =
      SumBlock(workspace.block, e, geometry, pricing.element_bytes);
  if (!CanBePrinted(workspace.block, sums)) return ErrorCode::kTextRange;
  BatchTimes batch;
  code = TimeBatch(e, geometry, system, placement, sums, batch);
  if (code != ErrorCode::kNone) return code;
  DataParallelTimes data;
  code = TimeDataParallel(e, geometry, placement, sums, batch, data);
  if (code != ErrorCode::kNone) return code;
  const MemoryUse memory = UseMemory(e, geometry, sums);

  SetBlockStatistics(sums, s);
  SetTimeStatistics(batch, data, s);
  SetMemoryStatistics(memory, s);
  const ErrorCode offload = SetOffloadBandwidths(e, sums, batch, s);
  const ErrorCode efficiency =
      SetEfficiencies(e, geometry, pricing.matrix->Peak(), s);
  if (memory.tier1 > system.mem1.capacity_bytes) return ErrorCode::kMem1;
  if (memory.tier2 > system.mem2.capacity_bytes) return ErrorCode::kMem2;
  if (!IsSane(e, geometry, sums, s)) return ErrorCode::kSanity;
  if (offload != ErrorCode::kNone) return offload;
  return efficiency;
}

}  // namespace lmsimbench::calculon
