#include "lib/simulators/calculon/mapping.h"

#include <fmt/core.h>

#include <cmath>

#include "lmsimbench/layout.h"

namespace lmsimbench::calculon {
namespace {

// The networks of a system with nodes.
constexpr int64_t kInNode = 0;
constexpr int64_t kBetweenNodes = 1;

// Makes an adaptation, or refuses it if it is switched off.
absl::Status Adapt(bool allowed, const char* what,
                   std::vector<std::string>& adaptations) {
  if (!allowed) {
    return absl::UnimplementedError(fmt::format(
        "not asked as it stands, and adaptations are off: {}", what));
  }
  adaptations.emplace_back(what);
  return absl::OkStatus();
}

absl::Status CheckStated(const Workload& workload) {
  const struct {
    const char* name;
    int64_t value;
  } needed[] = {{"hidden size", workload.model.hidden},
                {"layers", workload.model.layers},
                {"heads", workload.model.heads},
                {"sequence length", workload.seq_len},
                {"global batch", workload.global_batch}};
  for (const auto& figure : needed) {
    if (!IsStated(figure.value)) {
      return absl::FailedPreconditionError(
          fmt::format("{} not stated", figure.name));
    }
    if (figure.value < 1) {
      return absl::InvalidArgumentError(
          fmt::format("{} is {}, must be positive", figure.name, figure.value));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const ParallelConfig& config) {
  const struct {
    const char* name;
    int64_t value;
  } sizes[] = {{"dp", config.dp}, {"tp", config.tp}, {"pp", config.pp}};
  for (const auto& size : sizes) {
    if (size.value < 1) {
      return absl::InvalidArgumentError(
          fmt::format("{} is {}, must be positive", size.name, size.value));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExpressible(const Workload& workload,
                              const ParallelConfig& config) {
  if (HasExperts(workload.model)) {
    return absl::UnimplementedError("mixture of experts");
  }
  if (config.cp > 1) {
    return absl::UnimplementedError(
        fmt::format("context parallelism of {}", config.cp));
  }
  if (workload.model.attention == AttentionKind::kLatent) {
    return absl::UnimplementedError("multi-head latent attention");
  }
  if (SplitsBackward(config.schedule)) {
    return absl::UnimplementedError(
        fmt::format("schedule {}: Calculon has 1f1b and interleaved",
                    std::string(Name(config.schedule))));
  }
  return absl::OkStatus();
}

absl::Status MapDatatype(Precision precision, Datatype& datatype) {
  if (IsFp8(precision)) {
    datatype = Datatype::kFloat8;
  } else if (precision == Precision::kFp32 || precision == Precision::kTf32) {
    datatype = Datatype::kFloat32;
  } else if (precision == Precision::kNvFp4) {
    return absl::UnimplementedError(
        fmt::format("precision {}", std::string(Name(precision))));
  } else {
    datatype = Datatype::kFloat16;
  }
  return absl::OkStatus();
}

// The width of a plain MLP between multi-head attention that has as many
// parameters as the model's layers.
absl::Status MapFeedforward(const ModelSpec& model, int64_t tp,
                            const CalculonAdaptations& allowed,
                            int64_t& feedforward,
                            std::vector<std::string>& adaptations) {
  if (!IsStated(model.ffn)) {
    return absl::FailedPreconditionError("MLP width not stated");
  }
  double width = static_cast<double>(model.ffn);
  if (IsYes(model.gated_mlp)) {
    const auto status =
        Adapt(allowed.gated_mlp, "gated MLP as 1.5 x ffn", adaptations);
    if (!status.ok()) return status;
    width *= 1.5;
  }
  if (IsStated(model.kv_heads) && model.kv_heads != model.heads) {
    const auto status =
        Adapt(allowed.grouped_queries, "GQA as MHA, ffn cut to keep parameters",
              adaptations);
    if (!status.ok()) return status;
    const double shared = 1 - static_cast<double>(model.kv_heads) /
                                  static_cast<double>(model.heads);
    width -= shared * static_cast<double>(model.hidden);
  }
  feedforward =
      static_cast<int64_t>(std::nearbyint(width / static_cast<double>(tp))) *
      tp;
  if (feedforward <= 0) {
    return absl::UnimplementedError(fmt::format(
        "an MLP of width {} is too narrow to be cut for {} key and value heads",
        model.ffn, model.kv_heads));
  }
  return absl::OkStatus();
}

absl::Status MapRecompute(const Workload& workload,
                          const ParallelConfig& config,
                          const CalculonAdaptations& allowed,
                          calculon::Recompute& recompute,
                          std::vector<std::string>& adaptations) {
  lmsimbench::Recompute stated = config.recompute;
  if (stated == lmsimbench::Recompute::kNotStated) {
    const auto status =
        Adapt(allowed.unstated, "recompute not stated: none", adaptations);
    if (!status.ok()) return status;
    stated = lmsimbench::Recompute::kNone;
  }
  switch (stated) {
    case lmsimbench::Recompute::kFull:
      recompute = calculon::Recompute::kFull;
      return absl::OkStatus();
    case lmsimbench::Recompute::kSelective:
      recompute = calculon::Recompute::kAttentionOnly;
      return absl::OkStatus();
    case lmsimbench::Recompute::kNone:
      if (workload.attention_impl != AttentionImpl::kFlash) {
        recompute = calculon::Recompute::kNone;
        return absl::OkStatus();
      }
      recompute = calculon::Recompute::kAttentionOnly;
      return Adapt(allowed.flash_attention, "FlashAttention as attn_only",
                   adaptations);
    default:
      return absl::UnimplementedError(
          fmt::format("recomputation of single {}", std::string(Name(stated))));
  }
}

// Places the parallelisms on the networks in rank order tensor, data, pipeline:
// one lies within the node while what is placed so far fills it evenly, and
// from the first that does not, all lie between nodes.
void MapNetworks(int64_t devices_per_node, Execution& execution) {
  int64_t used = 1;
  const auto place = [&used, devices_per_node](int64_t size) {
    const int64_t filled = used * size;
    if (filled <= devices_per_node && devices_per_node % filled == 0) {
      used = filled;
      return kInNode;
    }
    used = devices_per_node;
    return kBetweenNodes;
  };
  const auto network_of = [&place](int64_t size, int64_t unused) {
    return size > 1 ? place(size) : unused;
  };
  execution.tensor_par_net = network_of(execution.tensor_par, kInNode);
  execution.data_par_net = network_of(execution.data_par, kBetweenNodes);
  execution.pipeline_par_net =
      network_of(execution.pipeline_par, kBetweenNodes);
}

}  // namespace

absl::Status MapQuestion(const Workload& workload, const ParallelConfig& config,
                         int64_t devices_per_node,
                         const CalculonAdaptations& allowed, Question& question,
                         std::vector<std::string>& adaptations) {
  if (absl::Status status = CheckStated(workload); !status.ok()) return status;
  if (absl::Status status = CheckSizes(config); !status.ok()) return status;
  if (absl::Status status = CheckExpressible(workload, config); !status.ok()) {
    return status;
  }

  const ModelSpec& model = workload.model;
  Application& application = question.application;
  application.hidden = model.hidden;
  application.seq_size = workload.seq_len;
  application.attn_heads = model.heads;
  application.attn_size = model.hidden / model.heads;
  application.num_blocks = model.layers;

  Execution& execution = question.execution;
  execution = Execution();
  execution.tensor_par = config.tp;
  execution.pipeline_par = config.pp;
  execution.data_par = config.dp;
  execution.num_procs = config.tp * config.pp * config.dp;
  execution.batch_size = workload.global_batch;

  absl::Status status = MapFeedforward(model, config.tp, allowed,
                                       application.feedforward, adaptations);
  if (!status.ok()) return status;
  status = MapDatatype(workload.precision, execution.datatype);
  if (!status.ok()) return status;

  execution.microbatch_size = config.micro_batch;
  if (!IsStated(config.micro_batch)) {
    status = Adapt(allowed.unstated, "micro-batch 1 assumed", adaptations);
    if (!status.ok()) return status;
    execution.microbatch_size = 1;
  }
  execution.pipeline_interleaving = config.vpp;
  if (!IsStated(config.vpp)) {
    status = Adapt(allowed.unstated, "no virtual stages assumed", adaptations);
    if (!status.ok()) return status;
    execution.pipeline_interleaving = 1;
  }

  status = MapRecompute(workload, config, allowed,
                        execution.activation_recompute, adaptations);
  if (!status.ok()) return status;
  if (IsYes(config.sequence_parallel)) {
    execution.tensor_par_comm_type = TensorComm::kRsAg;
    execution.seq_par_ag_redo =
        execution.activation_recompute != calculon::Recompute::kFull;
  }
  if (config.zero == ZeroStage::kParameters) {
    status = Adapt(allowed.sharded_parameters, "ZeRO-3 as optimizer sharding",
                   adaptations);
    if (!status.ok()) return status;
  }
  execution.optimizer_sharding = ShardsOptimizer(config.zero) && config.dp > 1;

  MapNetworks(devices_per_node, execution);
  return absl::OkStatus();
}

}  // namespace lmsimbench::calculon
