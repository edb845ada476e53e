#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace lmsimbench::calculon {

/// Everything that one evaluation tells. Times are seconds, sizes bytes,
/// bandwidths bytes/s, flops operations. Names are those of the original; a
/// block is one transformer block of one micro-batch on one processor, a base
/// block lies inside a chunk, an edge block at its end (where the pipeline
/// communicates). Backward is split into agrad (gradients of activations) and
/// wgrad (of weights); re is recomputation, recomm redone communication, tp, pp
/// and dp tensor, pipeline and data parallelism.
struct Statistics {
  double block_fw_flops;
  double block_fw_flops_time;
  double block_fw_mem_accessed;
  double block_fw_mem_time;
  double block_fw_time;
  double baseblock_fw_tp_time;
  double edgeblock_fw_tp_time;
  double baseblock_fw_tp_time_exposed;
  double edgeblock_fw_tp_time_exposed;
  double block_re_flops;
  double block_re_flops_time;
  double block_re_mem_accessed;
  double block_re_mem_time;
  double block_re_time;
  double baseblock_recomm_time;
  double edgeblock_recomm_time;
  double baseblock_recomm_time_exposed;
  double edgeblock_recomm_time_exposed;
  double block_agrad_flops;
  double block_agrad_flops_time;
  double block_agrad_mem_accessed;
  double block_agrad_mem_time;
  double block_agrad_time;
  double baseblock_agrad_tp_time;
  double edgeblock_agrad_tp_time;
  double baseblock_agrad_tp_time_exposed;
  double edgeblock_agrad_tp_time_exposed;
  double block_wgrad_flops;
  double block_wgrad_flops_time;
  double block_wgrad_mem_accessed;
  double block_wgrad_mem_time;
  double block_wgrad_time;
  double block_optim_flops;
  double block_optim_flops_time;
  double block_optim_mem_accessed;
  double block_optim_mem_time;
  double block_optim_time;
  double baseblock_fw_tp_size;
  double edgeblock_fw_tp_size;
  double baseblock_bw_tp_size;
  double edgeblock_bw_tp_size;
  double baseblock_recomm_size;
  double edgeblock_recomm_size;
  double block_fw_pp_size;
  double block_bw_pp_size;
  double block_dp_size;
  double tp_bw_overlap_req;
  double dp_bw_overlap_req_chunk;
  double dp_bw_overlap_req_tail;
  double block_weight_space;
  double block_act_working_space;
  double block_act_storage_space;
  double block_act_checkpoint_size;
  double block_weight_grad_space;
  double block_weight_grad_space_no_sharding;
  double block_act_grad_space;
  double block_optimizer_space;
  double weight_space_with_offload;
  double act_space_with_offload;
  double act_checkpoint_size_with_offload;  ///< NaN in inference: the original
                                            ///< gives no value
  double act_grad_space_with_offload;
  double weight_grad_space_with_offload;
  double optimizer_space_with_offload;
  double weight_space;
  double act_space;
  double act_checkpoint_size;
  double act_grad_space;
  double weight_grad_space;
  double optimizer_space;
  double fw_time;
  double bw_time;
  double optim_step_time;
  double recompute_time;
  double recomm_link_time;
  double recomm_exposed_time;
  double bubble_time;
  double tp_comm_link_time;
  double pp_comm_link_time;
  double dp_comm_link_time;
  double tp_comm_exposed_time;
  double pp_comm_exposed_time;
  double dp_comm_exposed_time;
  double fw_offload_exposed_time;
  double bw_offload_exposed_time;
  double total_time;
  double act_offload_bw_req;
  double weight_offload_bw_req;
  double optim_offload_bw_req;
  double offload_mem_bw_req;
  double proc_mem_tier1_cap_req;
  double proc_mem_tier2_cap_req;
  double useful_flops;
  double compute_efficiency;
  double system_efficiency;
  double total_efficiency;
  double sample_rate;  ///< sequences per second
};

/// One statistic: its name (the key of the original's JSON) and its place.
struct StatisticField {
  std::string_view name;
  double Statistics::*member;
};

/// All statistics, in the order of the original's output.
absl::Span<const StatisticField> StatisticFields();

}  // namespace lmsimbench::calculon
