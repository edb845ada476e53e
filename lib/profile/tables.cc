#include "lib/profile/tables.h"

namespace lmsimbench {
namespace {

constexpr CellRule kText = CellRule::kText;
constexpr CellRule kNumber = CellRule::kNumber;
constexpr CellRule kPositive = CellRule::kPositive;
constexpr CellRule kCount = CellRule::kCount;
constexpr CellRule kPositiveCount = CellRule::kPositiveCount;
constexpr CellRule kFlag = CellRule::kFlag;
constexpr Presence kRequired = Presence::kRequired;

constexpr ColumnSpec kIterations[] = {
    {"record_id", kText, kRequired},
    {"workload_id", kText, kRequired},
    {"split", kText, kRequired},
    {"source_id", kText, kRequired},
    {"platform", kText, kRequired},
    {"platform_as_stated"},
    {"devices_total", kPositiveCount, kRequired},
    {"devices_per_node", kPositiveCount},
    {"framework"},
    {"precision", CellRule::kPrecision},
    {"model", kText, kRequired},
    {"attention", CellRule::kAttention},
    {"hidden", kPositiveCount},
    {"layers", kPositiveCount},
    {"heads", kPositiveCount},
    {"kv_heads", kPositiveCount},
    {"ffn", kPositiveCount},
    {"vocab", kPositiveCount},
    {"gated_mlp", kFlag},
    {"experts", kCount},
    {"topk", kCount},
    {"seq_len", kPositiveCount},
    {"global_batch_seqs", kPositiveCount},
    {"micro_batch_seqs", kPositiveCount},
    {"dp", kPositiveCount, kRequired},
    {"tp", kPositiveCount, kRequired},
    {"pp", kPositiveCount, kRequired},
    {"vpp", kPositiveCount},
    {"cp", kPositiveCount, kRequired},
    {"ep", kPositiveCount},
    {"etp", kPositiveCount},
    {"sequence_parallel", kFlag},
    {"zero_stage", CellRule::kZeroStage},
    {"recompute", CellRule::kRecompute},
    {"iteration_time_ms", kPositive},
    {"tokens_per_s_per_device", kNumber},
    {"model_tflops_per_device", kNumber},
    {"mfu_percent", kNumber},
    {"peak_memory_gib", kPositive},
    {"memory_scope"},
    {"options", CellRule::kOptions},
    {"derived"},
    {"grade"},
    {"flag"},
    {"notes"},
};

constexpr ColumnSpec kFailedConfigurations[] = {
    {"record_id", kText, kRequired},
    {"workload_id", kText, kRequired},
    {"split", kText, kRequired},
    {"source_id", kText, kRequired},
    {"platform", kText, kRequired},
    {"devices_total", kPositiveCount, kRequired},
    {"precision", CellRule::kPrecision},
    {"model", kText, kRequired},
    {"hidden", kPositiveCount},
    {"layers", kPositiveCount},
    {"heads", kPositiveCount},
    {"kv_heads", kPositiveCount},
    {"ffn", kPositiveCount},
    {"vocab", kPositiveCount},
    {"gated_mlp", kFlag},
    {"seq_len", kPositiveCount},
    {"global_batch_seqs", kPositiveCount},
    {"micro_batch_seqs", kPositiveCount},
    {"grad_acc", kPositiveCount},
    {"dp", kPositiveCount, kRequired},
    {"tp", kPositiveCount, kRequired},
    {"pp", kPositiveCount, kRequired},
    {"vpp", kPositiveCount},
    {"cp", kPositiveCount, kRequired},
    {"ep", kPositiveCount},
    {"sequence_parallel", kFlag},
    {"zero_stage", CellRule::kZeroStage},
    {"recompute", CellRule::kRecompute},
    {"options", CellRule::kOptions},
    {"derived"},
    {"outcome"},
};

constexpr ColumnSpec kMemory[] = {
    {"split", kText, kRequired},
    {"source_id", kText, kRequired},
    {"run", kText, kRequired},
    {"platform", kText, kRequired},
    {"scope"},
    {"stage"},
    {"model"},
    {"config"},
    {"params_on_rank", kCount},
    {"weights_master_gib", kNumber},
    {"gradients_gib", kNumber},
    {"optimizer_states_gib", kNumber},
    {"activations_gib", kNumber},
    {"allocated_after_setup_gib", kNumber},
    {"allocated_steady_gib", kNumber},
    {"peak_allocated_gib", kNumber},
    {"peak_reserved_gib", kNumber},
    {"total_reported_gib", kNumber},
    {"derived"},
    {"notes"},
};

constexpr ColumnSpec kRanks[] = {
    {"split", kText, kRequired},     {"source_id", kText, kRequired},
    {"run", kText, kRequired},       {"rank", kCount, kRequired},
    {"compute_us", kNumber},         {"exposed_comm_us", kNumber},
    {"overlapped_comm_us", kNumber}, {"idle_us", kNumber},
    {"total_us", kNumber},           {"notes"},
};

constexpr ColumnSpec kStageRuns[] = {
    {"split", kText, kRequired},
    {"source_id", kText, kRequired},
    {"run", kText, kRequired},
    {"platform", kText, kRequired},
    {"devices", kPositiveCount},
    {"devices_per_node", kPositiveCount},
    {"model"},
    {"hidden", kPositiveCount},
    {"layers", kPositiveCount},
    {"heads", kPositiveCount},
    {"ffn", kPositiveCount},
    {"vocab", kPositiveCount},
    {"seq_len", kPositiveCount},
    {"global_batch_seqs", kPositiveCount},
    {"micro_batch_seqs", kPositiveCount},
    {"stages", kPositiveCount},
    {"uniform", kFlag},
    {"stage_gpus"},
    {"stage_ops"},
    {"recomputed_op_fraction"},
    {"iteration_ms", kPositive},
    {"peak_allocated_mib", kNumber},
    {"ranks_logged", kCount},
    {"config_file"},
};

constexpr ColumnSpec kStageTimes[] = {
    {"split", kText, kRequired},
    {"source_id", kText, kRequired},
    {"run", kText, kRequired},
    {"platform", kText, kRequired},
    {"rank", kCount, kRequired},
    {"stage", kCount, kRequired},
    {"stages", kPositiveCount},
    {"stage_gpus", kPositiveCount},
    {"stage_ops", kCount},
    {"stage_tp", kPositiveCount},
    {"stage_dp", kPositiveCount},
    {"recomputed_op_fraction", kNumber},
    {"iteration_ms", kPositive},
    {"forward_ms", kNumber},
    {"backward_ms", kNumber},
    {"p2p_incl_wait_ms", kNumber},
    {"grad_allreduce_ms", kNumber},
    {"embedding_allreduce_ms", kNumber},
    {"optimizer_ms", kNumber},
    {"batch_generator_ms", kNumber},
    {"allocated_mib", kNumber},
    {"max_allocated_mib", kNumber},
    {"reserved_mib", kNumber},
    {"max_reserved_mib", kNumber},
    {"detail"},
    {"file"},
};

constexpr ColumnSpec kLinkedRuns[] = {
    {"source_id", kText, kRequired}, {"run", kText, kRequired},
    {"platform", kText, kRequired},  {"devices", kPositiveCount},
    {"e2e_ms", kPositive},           {"levels"},
    {"where_other_levels"},          {"notes"},
    {"platform_as_stated"},
};

constexpr ColumnSpec kLinks[] = {
    {"record_id", kText, kRequired},
    {"view", kText, kRequired},
    {"source_id", kText, kRequired},
    {"run", kText, kRequired},
};

constexpr ColumnSpec kOperators[] = {
    {"split", kText, kRequired},
    {"platform", kText, kRequired},
    {"platform_as_stated"},
    {"source_id", kText, kRequired},
    {"op", kText, kRequired},
    {"pass"},
    {"dtype"},
    {"shape", kText, kRequired},
    {"latency_us", kPositive, kRequired},
    {"notes"},
};

constexpr ColumnSpec kCollectives[] = {
    {"split", kText, kRequired},
    {"platform", kText, kRequired},
    {"platform_as_stated"},
    {"source_id", kText, kRequired},
    {"collective", kText, kRequired},
    {"library"},
    {"bytes", kCount},
    {"group_size", kPositiveCount},
    {"devices_per_node", kPositiveCount},
    {"nodes", kPositiveCount},
    {"link"},
    {"latency_us", kPositive},
    {"busbw_GBps", kNumber},
    {"notes"},
};

constexpr ColumnSpec kGemms[] = {
    {"split", kText, kRequired},
    {"platform", kText, kRequired},
    {"platform_as_stated"},
    {"source_id", kText, kRequired},
    {"dtype", kText, kRequired},
    {"m", kPositiveCount, kRequired},
    {"n", kPositiveCount, kRequired},
    {"k", kPositiveCount, kRequired},
    {"batch", kPositiveCount},
    {"trans_a", kFlag},
    {"trans_b", kFlag},
    {"latency_us", kPositive, kRequired},
    {"notes"},
};

constexpr ColumnSpec kModels[] = {
    {"name", kText, kRequired},
    {"source_id", kText, kRequired},
    {"status"},
    {"model"},
    {"hidden", kPositiveCount},
    {"layers", kPositiveCount},
    {"heads", kPositiveCount},
    {"kv_heads", kPositiveCount},
    {"head_dim", kPositiveCount},
    {"ffn", kPositiveCount},
    {"gated_mlp", kFlag},
    {"activation"},
    {"vocab", kPositiveCount},
    {"tied_embeddings", kFlag},
    {"attention", CellRule::kAttention},
    {"sliding_window", kCount},
    {"sliding_window_period", kPositiveCount},
    {"qk_norm", kFlag},
    {"norm", CellRule::kNorm},
    {"norms_per_layer", kPositiveCount},
    {"qkv_bias", kFlag},
    {"linear_bias", kFlag},
    {"positions", CellRule::kPositions},
    {"max_positions", kPositiveCount},
    {"dropout", kNumber},
    {"experts", kCount},
    {"top_k", kCount},
    {"expert_ffn", kPositiveCount},
    {"shared_experts", kCount},
    {"shared_expert_ffn", kPositiveCount},
    {"dense_first_layers", kCount},
    {"q_lora_rank", kCount},
    {"kv_lora_rank", kPositiveCount},
    {"qk_nope_head_dim", kPositiveCount},
    {"qk_rope_head_dim", kPositiveCount},
    {"v_head_dim", kPositiveCount},
    {"mtp_layers", kCount},
    {"params_matrices_only", kCount},
    {"active_params_matrices_only", kCount},
    {"script_defaults"},
    {"data_set_row"},
    {"sources"},
    {"notes"},
};

constexpr ColumnSpec kPlatforms[] = {
    {"platform_id", kText, kRequired},
    {"vendor"},
    {"device"},
    {"memory_gib", kPositive},
    {"peak_fp32_tflops", kPositive},
    {"peak_tf32_tflops", kPositive},
    {"peak_fp16_tflops_dense", kPositive},
    {"peak_bf16_tflops_dense", kPositive},
    {"peak_fp8_tflops_dense", kPositive},
    {"hbm_bandwidth_GBps", kPositive},
    {"l2_mib", kPositive},
    {"sm_or_core_count", kPositiveCount},
    {"boost_clock_mhz", kPositive},
    {"devices_per_node", kPositiveCount},
    {"intra_node_link"},
    {"intra_node_bandwidth_GBps_per_device_unidirectional", kPositive},
    {"inter_node_link"},
    {"inter_node_bandwidth_GBps_per_device_unidirectional", kPositive},
    {"system_example"},
    {"source_urls"},
    {"notes"},
};

constexpr ColumnSpec kSources[] = {
    {"source_id", kText, kRequired},    {"title"},
    {"where", kText, kRequired},        {"commit_or_date"},
    {"license", kText, kRequired},      {"what"},
    {"repeat_spread_percent", kNumber},
};

const TableSpec kTables[] = {
    {"iterations", kIterations},
    {"failed_configurations", kFailedConfigurations},
    {"memory", kMemory},
    {"ranks", kRanks},
    {"stage_runs", kStageRuns},
    {"stage_times", kStageTimes},
    {"linked_runs", kLinkedRuns},
    {"links", kLinks},
    {"operators", kOperators},
    {"collectives", kCollectives},
    {"gemms", kGemms},
    {"models", kModels},
    {"platforms", kPlatforms},
    {"sources", kSources},
};

}  // namespace

absl::Span<const TableSpec> BundleTables() { return kTables; }

const TableSpec* FindTableSpec(absl::string_view name) {
  for (const TableSpec& table : kTables) {
    if (name == table.name) return &table;
  }
  return nullptr;
}

int FindColumnSpec(const TableSpec& table, absl::string_view column) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (column == table.columns[i].name) return static_cast<int>(i);
  }
  return -1;
}

ColumnType TypeOf(CellRule rule) {
  switch (rule) {
    case CellRule::kText:
    case CellRule::kPrecision:
    case CellRule::kAttention:
    case CellRule::kNorm:
    case CellRule::kPositions:
    case CellRule::kZeroStage:
    case CellRule::kRecompute:
    case CellRule::kOptions:
      return ColumnType::kString;
    case CellRule::kNumber:
    case CellRule::kPositive:
      return ColumnType::kF64;
    case CellRule::kCount:
    case CellRule::kPositiveCount:
    case CellRule::kFlag:
      return ColumnType::kI64;
  }
  return ColumnType::kString;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const TableSpec& table : kTables) names.emplace_back(table.name);
  return names;
}

std::vector<std::string> ColumnNames(const TableSpec& table) {
  std::vector<std::string> names;
  for (const ColumnSpec& column : table.columns) {
    names.emplace_back(column.name);
  }
  return names;
}

}  // namespace lmsimbench
