#include "lmsimbench/measured_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "fmt/format.h"
#include "lib/profile/run_cells.h"
#include "lib/profile/run_notes.h"
#include "lib/profile/view_row.h"

namespace lmsimbench {
namespace {

constexpr double kGiB = 1073741824.0;

// Of a mixture of experts the tables give the width of an expert.
void ReadModel(const ViewRow& row, ModelSpec& model) {
  model.name = row.Text("model");
  model.hidden = row.Count("hidden");
  model.layers = row.Count("layers");
  model.heads = row.Count("heads");
  model.kv_heads = row.Count("kv_heads");
  model.vocab = row.Count("vocab");
  model.gated_mlp = row.Fact("gated_mlp");
  model.experts = std::max<int64_t>(row.Count("experts"), 0);
  model.top_k = std::max<int64_t>(row.Count("topk"), 0);
  (HasExperts(model) ? model.expert_ffn : model.ffn) = row.Count("ffn");
}

// What the number of heads says, for tables that do not name the attention.
AttentionKind AttentionOf(const ModelSpec& model) {
  if (!IsStated(model.heads) || !IsStated(model.kv_heads)) {
    return AttentionKind::kNotStated;
  }
  return model.kv_heads == model.heads ? AttentionKind::kMultiHead
                                       : AttentionKind::kGroupedQuery;
}

absl::Status ReadConfig(const ViewRow& row, MeasuredRun& run) {
  ParallelConfig& config = run.config;
  config.dp = row.Count("dp");
  config.tp = row.Count("tp");
  config.pp = row.Count("pp");
  config.vpp = row.Count("vpp");
  config.cp = row.Count("cp");
  config.ep = row.Count("ep");
  config.etp = row.Count("etp");
  config.micro_batch = row.Count("micro_batch_seqs");
  config.grad_accumulation = row.Count("grad_acc");
  config.sequence_parallel = row.Fact("sequence_parallel");
  absl::Status status = ReadZeroStage(row.Text("zero_stage"), config.zero);
  if (!status.ok()) return status;
  status = ReadRecompute(row.Text("recompute"), config);
  if (!status.ok()) return status;
  const int64_t layers = config.recompute_layers;
  status = ReadOptions(row.Text("options"), run.workload, config);
  if (!status.ok()) return status;
  if (config.recompute == Recompute::kLayers &&
      config.recompute_layers != layers) {
    return absl::InvalidArgumentError(
        fmt::format("recomputes layers:{}, but its options say {}", layers,
                    config.recompute_layers));
  }
  return absl::OkStatus();
}

// Fields are compared as the texts of the table, so that an empty one is a
// value of its own.
std::string ConfigurationKey(const ViewRow& row) {
  std::string key;
  for (const char* column : {"dp", "tp", "pp", "vpp", "cp", "ep", "etp",
                             "micro_batch_seqs", "sequence_parallel"}) {
    const int64_t count = row.Count(column);
    if (IsStated(count)) key += std::to_string(count);
    key += '|';
  }
  return fmt::format("{}{}|{}|{}", key, row.Text("zero_stage"),
                     row.Text("recompute"),
                     OptionsWithoutAccumulation(row.Text("options")));
}

absl::Status ReadRow(const ViewRow& row, MeasuredRun& run) {
  run.workload_id = row.Text("workload_id");
  run.source = row.Text("source_id");
  run.platform = row.Text("platform");
  run.platform_as_stated = row.Text("platform_as_stated");
  run.framework = row.Text("framework");
  run.split = row.Text("split");
  run.grade = row.Text("grade");
  run.flag = row.Text("flag");
  run.derived = row.Text("derived");
  run.notes = row.Text("notes");
  run.devices = row.Count("devices_total");
  run.devices_per_node = row.Count("devices_per_node");

  Workload& workload = run.workload;
  ReadModel(row, workload.model);
  workload.seq_len = row.Count("seq_len");
  workload.global_batch = row.Count("global_batch_seqs");
  absl::Status status =
      ReadPrecision(row.Text("precision"), workload.precision);
  if (!status.ok()) return status;
  status = ReadAttention(row.Text("attention"), workload.model.attention);
  if (!status.ok()) return status;
  if (workload.model.attention == AttentionKind::kNotStated) {
    workload.model.attention = AttentionOf(workload.model);
  }
  status = ReadConfig(row, run);
  if (!status.ok()) return status;
  ReadNotes(run.notes, workload, run.config);
  run.configuration_key = ConfigurationKey(row);

  run.iteration_time_s = row.Number("iteration_time_ms") / 1e3;
  run.tokens_per_s_per_device = row.Number("tokens_per_s_per_device");
  run.model_flops_per_device = row.Number("model_tflops_per_device") * 1e12;
  run.model_flops_utilisation = row.Number("mfu_percent") / 100;
  run.peak_memory_bytes = row.Number("peak_memory_gib") * kGiB;
  run.memory_scope = ReadMemoryScope(row.Text("memory_scope"));
  run.memory_of_first_rank =
      absl::StartsWith(row.Text("memory_scope"), "rank 0");
  return absl::OkStatus();
}

// What a failed run has in common with the measured ones of its model and
// source, and its table has no column for.
void ShareSweep(const MeasuredRun& measured, MeasuredRun& failed) {
  const Workload& known = measured.workload;
  Workload& workload = failed.workload;
  if (failed.framework.empty()) failed.framework = measured.framework;
  if (!IsStated(failed.devices_per_node)) {
    failed.devices_per_node = measured.devices_per_node;
  }
  if (workload.model.tied_embeddings == YesNo::kNotStated) {
    workload.model.tied_embeddings = known.model.tied_embeddings;
  }
  if (workload.gradient_precision == Precision::kNotStated) {
    workload.gradient_precision = known.gradient_precision;
  }
}

bool NamesMemoryAlone(const std::string& outcome) {
  const std::string text = absl::AsciiStrToLower(outcome);
  const bool memory =
      absl::StrContains(text, "memory") || absl::StrContains(text, "oom");
  return memory && !absl::StrContains(text, "crash");
}

absl::StatusOr<std::vector<MeasuredRun>> ReadTable(const ProfileView& view,
                                                   bool ran) {
  std::vector<MeasuredRun> runs(view.rows());
  for (size_t i = 0; i < runs.size(); ++i) {
    const ViewRow row(view, i);
    MeasuredRun& run = runs[i];
    run.record_id = row.Text("record_id");
    run.ran = ran;
    if (!ran) {
      run.outcome = row.Text("outcome");
      run.failure_cause_unknown = !NamesMemoryAlone(run.outcome);
    }
    const absl::Status status = ReadRow(row, run);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("{}, row '{}': {}", view.name(), run.record_id,
                      std::string(status.message())));
    }
  }
  return runs;
}

}  // namespace

absl::StatusOr<std::vector<MeasuredRun>> ReadRuns(const Bundle& bundle) {
  return ReadTable(bundle.ViewOrEmpty("iterations"), true);
}

absl::StatusOr<std::vector<MeasuredRun>> ReadFailedRuns(const Bundle& bundle) {
  auto failed = ReadTable(bundle.ViewOrEmpty("failed_configurations"), false);
  if (!failed.ok() || failed->empty()) return failed;
  const auto runs = ReadRuns(bundle);
  if (!runs.ok()) return runs.status();
  std::map<std::pair<std::string, std::string>, const MeasuredRun*> sweeps;
  for (const MeasuredRun& run : *runs) {
    sweeps.emplace(std::pair(run.source, run.workload.model.name), &run);
  }
  for (MeasuredRun& run : *failed) {
    const auto sweep =
        sweeps.find(std::pair(run.source, run.workload.model.name));
    if (sweep != sweeps.end()) ShareSweep(*sweep->second, run);
  }
  return failed;
}

}  // namespace lmsimbench
