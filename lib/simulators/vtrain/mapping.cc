#include "lib/simulators/vtrain/mapping.h"

#include <fmt/core.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::vtrain {
namespace {

constexpr double kGibi = 1073741824.0;
// Beyond them no model and no cluster lies.
constexpr int64_t kLargest = int64_t{1} << 31;
constexpr double kMostDevices = 1 << 24;

absl::Status CheckStated(const Workload& workload,
                         const ParallelConfig& config) {
  const struct {
    const char* name;
    int64_t value;
  } needed[] = {{"hidden size", workload.model.hidden},
                {"layers", workload.model.layers},
                {"heads", workload.model.heads},
                {"vocabulary", workload.model.vocab},
                {"sequence length", workload.seq_len},
                {"global batch", workload.global_batch},
                {"dp", config.dp},
                {"tp", config.tp},
                {"pp", config.pp}};
  for (const auto& figure : needed) {
    if (!IsStated(figure.value)) {
      return absl::FailedPreconditionError(
          fmt::format("{} not stated", figure.name));
    }
    if (figure.value < 1 || figure.value > kLargest) {
      return absl::InvalidArgumentError(
          fmt::format("{} is {}, must lie from 1 to {}", figure.name,
                      figure.value, kLargest));
    }
  }
  const double devices = static_cast<double>(config.dp) *
                         static_cast<double>(config.tp) *
                         static_cast<double>(config.pp);
  if (devices > kMostDevices) {
    return absl::OutOfRangeError(fmt::format(
        "{:.0f} devices are more than {:.0f}", devices, kMostDevices));
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const Workload& workload) {
  const ModelSpec& model = workload.model;
  if (HasExperts(model)) return absl::UnimplementedError("mixture of experts");
  if (model.attention == AttentionKind::kLatent) {
    return absl::UnimplementedError("multi-head latent attention");
  }
  if (model.sliding_window > 0 && model.sliding_window_period > 1) {
    return absl::UnimplementedError(
        "layers that differ: some have a window of attention");
  }
  if (model.mtp_layers > 0) {
    return absl::UnimplementedError(
        fmt::format("{} multi-token prediction layers", model.mtp_layers));
  }
  if (workload.precision == Precision::kFp32 ||
      workload.precision == Precision::kTf32) {
    return absl::UnimplementedError(
        fmt::format("precision {}: vTrain's messages have 16 bits a number",
                    std::string(Name(workload.precision))));
  }
  return absl::OkStatus();
}

absl::Status CheckParallelism(const ParallelConfig& config) {
  if (config.cp > 1) {
    return absl::UnimplementedError(
        fmt::format("context parallelism of {}", config.cp));
  }
  if (config.ep > 1) {
    return absl::UnimplementedError(
        fmt::format("expert parallelism of {}", config.ep));
  }
  if (config.zero != ZeroStage::kNotStated && config.zero != ZeroStage::kNone &&
      config.dp > 1) {
    return absl::UnimplementedError(
        fmt::format("ZeRO ({}) over {} data-parallel ranks",
                    std::string(Name(config.zero)), config.dp));
  }
  if (config.vpp > 1) {
    return absl::UnimplementedError(
        fmt::format("{} virtual stages a rank", config.vpp));
  }
  if (config.pp > 1 && config.schedule != Schedule::kNotStated &&
      config.schedule != Schedule::k1F1B) {
    return absl::UnimplementedError(fmt::format(
        "schedule {}: vTrain has 1f1b", std::string(Name(config.schedule))));
  }
  if (IsYes(config.offload_weights) || IsYes(config.offload_activations) ||
      IsYes(config.offload_optimizer)) {
    return absl::UnimplementedError("offloading to the host's memory");
  }
  const auto place = [&config](const char* name) {
    return config.rank_order.find(name);
  };
  if (place("tp") > place("dp") || place("dp") > place("pp")) {
    return absl::UnimplementedError(fmt::format(
        "rank order {}: vTrain's is tp, dp, pp", config.rank_order));
  }
  const auto& stages = config.stage_layers;
  if (!stages.empty() && *std::max_element(stages.begin(), stages.end()) !=
                             *std::min_element(stages.begin(), stages.end())) {
    return absl::UnimplementedError("stages of different sizes");
  }
  return absl::OkStatus();
}

absl::Status MapRecompute(const ParallelConfig& question, Config& config,
                          std::vector<std::string>& adaptations) {
  switch (question.recompute) {
    case Recompute::kFull:
      config.use_checkpoint = true;
      return absl::OkStatus();
    case Recompute::kNone:
      config.use_checkpoint = false;
      return absl::OkStatus();
    case Recompute::kNotStated:
      config.use_checkpoint = false;
      adaptations.emplace_back("recompute not stated: none");
      return absl::OkStatus();
    case Recompute::kSelective:
      config.use_checkpoint = false;
      adaptations.emplace_back(
          "selective recomputation as none: vTrain knows all or nothing");
      return absl::OkStatus();
    default:
      return absl::UnimplementedError(fmt::format(
          "recomputation of single {}", std::string(Name(question.recompute))));
  }
}

absl::Status MapSystem(const System& system, const ParallelConfig& question,
                       bool modelled, Config& config,
                       std::vector<std::string>& adaptations) {
  const int64_t devices = Devices(question);
  if (IsStated(system.devices) && system.devices != devices) {
    return absl::InvalidArgumentError(
        fmt::format("the configuration is for {} devices, the system has {}",
                    devices, system.devices));
  }
  // The tables were measured where NVLink joins all devices of a node.
  if (absl::StrContains(system.accelerator.name, "A100 SXM")) {
    config.gpu_name = "A100";
  } else if (absl::StrContains(system.accelerator.name, "V100 SXM")) {
    config.gpu_name = "V100";
  } else if (modelled) {
    config.gpu_name = system.accelerator.name;
    if (devices > 1) {
      adaptations.emplace_back(
          "communication of the cost model: vTrain has no tables of the "
          "device");
    }
  } else {
    return absl::UnimplementedError(fmt::format(
        "vTrain has no all-reduce tables of {}; it has those of A100 and V100 "
        "with NVLink",
        system.name));
  }
  const auto bandwidth = [&system](size_t level) {
    return level < system.network.size() ? system.network[level].bandwidth
                                         : kNoNumber;
  };
  if (IsStated(DevicesPerNode(system))) {
    config.node_size = DevicesPerNode(system);
  } else {
    adaptations.emplace_back("node size not stated: vTrain's 8 devices");
  }
  if (IsStated(bandwidth(0))) {
    config.intra_node_bandwidth = bandwidth(0) / kGibi;
  } else if (std::max(question.tp, question.dp) > kLargestGroup) {
    adaptations.emplace_back(
        "bandwidth within a node not stated: vTrain's 150 GB/s");
  }
  if (IsStated(bandwidth(1))) {
    config.inter_node_bandwidth =
        bandwidth(1) * static_cast<double>(config.node_size) * 8 / kGibi;
  } else if (devices > 1) {
    adaptations.emplace_back(
        "bandwidth between nodes not stated: vTrain's 800 Gbit/s a node");
  }
  return absl::OkStatus();
}

// vTrain counts the gradients of one kind of layer.
void NameGradients(const ModelSpec& model,
                   std::vector<std::string>& adaptations) {
  const bool plain =
      !IsYes(model.gated_mlp) &&
      (!IsStated(model.ffn) || model.ffn == 4 * model.hidden) &&
      (!IsStated(model.kv_heads) || model.kv_heads == model.heads);
  if (!plain) {
    adaptations.emplace_back(
        "gradients counted of multi-head attention and a plain MLP of 4 x "
        "hidden");
  }
}

}  // namespace

absl::Status MapQuestion(const Workload& workload, const System& system,
                         const ParallelConfig& question,
                         const VtrainRepairs& repairs, Config& config,
                         PlanOptions& options,
                         std::vector<std::string>& adaptations) {
  absl::Status status = CheckStated(workload, question);
  if (status.ok()) status = CheckModel(workload);
  if (status.ok()) status = CheckParallelism(question);
  if (!status.ok()) return status;

  config = Config();
  const bool modelled = repairs.model_other_devices && options.model != nullptr;
  status = MapSystem(system, question, modelled, config, adaptations);
  if (status.ok()) status = MapRecompute(question, config, adaptations);
  if (!status.ok()) return status;
  config.tensor_parallel = question.tp;
  config.data_parallel = question.dp;
  config.pipeline_parallel = question.pp;
  config.num_gpus = Devices(question);
  config.global_batch = workload.global_batch;
  config.num_layers = workload.model.layers;
  config.hidden = workload.model.hidden;
  config.num_heads = workload.model.heads;
  config.max_length = workload.seq_len;
  config.vocab = workload.model.vocab;

  int64_t micro_batch = question.micro_batch;
  if (!IsStated(micro_batch)) {
    micro_batch = 1;
    adaptations.emplace_back("micro-batch 1 assumed");
  }
  if (micro_batch < 1 || micro_batch > workload.global_batch) {
    return absl::InvalidArgumentError(
        fmt::format("micro-batch is {}, must lie from 1 to the batch of {}",
                    micro_batch, workload.global_batch));
  }
  config.micro_batch = micro_batch;
  const int64_t replica = config.global_batch / question.dp;
  if (question.pp == 1 && !repairs.keep_micro_batches &&
      replica != micro_batch) {
    adaptations.emplace_back(fmt::format(
        "one stage: the {} sequences of a replica as one micro-batch",
        replica));
  }
  if (!IsStated(question.vpp)) {
    adaptations.emplace_back("no virtual stages assumed");
  }
  if (IsYes(question.sequence_parallel)) {
    adaptations.emplace_back(
        "sequence parallelism as all-reduces, which move as much");
  }
  NameGradients(workload.model, adaptations);

  options.repairs = repairs;
  options.tied_embeddings = workload.model.tied_embeddings != YesNo::kNo;
  if (question.overlap_grad_reduce == YesNo::kNo) {
    options.repairs.overlap_gradients = false;
  }
  return absl::OkStatus();
}

}  // namespace lmsimbench::vtrain
