#include "lib/simulators/vtrain/plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace lmsimbench::vtrain {
namespace {

constexpr double kGibi = 1073741824.0;
constexpr int64_t kMebibyte = 1048576;

class Planner {
 public:
  Planner(const Config& config, const PlanOptions& options,
          const AllReduceTable& table, Plan& plan)
      : config_(config), options_(options), table_(table), plan_(plan) {}

  void PlanTensorParallelism() {
    plan_.tensor_all_reduce_ns =
        plan_.tensor > 1 ? InNode(ActivationBytes(config_), plan_.tensor) : 0;
  }

  void PlanPipeline() {
    plan_.hops_ns.clear();
    const int64_t activation = ActivationBytes(config_);
    for (int64_t rank = 0; rank + 1 < plan_.pipeline; ++rank) {
      plan_.hops_ns.push_back(
          plan_.repairs.hop_by_link
              ? LinkNs(activation, rank)
              : HopNs(2 * activation, config_.inter_node_bandwidth));
    }
  }

  void PlanGradients() {
    plan_.data_all_reduce_ns = {};
    for (auto& buckets : plan_.buckets) buckets.clear();
    plan_.embedding_all_reduce_ns = 0;
    plan_.output_update_share = 0;
    const bool counts = plan_.repairs.count_output_layer;
    const int64_t output = OutputGradientBytes(config_);
    // One matrix on the only rank is held, reduced and updated once.
    const bool shared_on_one =
        counts && options_.tied_embeddings && plan_.pipeline == 1;
    if (plan_.data > 1) {
      for (int kind = 0; kind < kRankKinds; ++kind) {
        PlanGradientsOf(static_cast<RankKind>(kind), shared_on_one);
      }
    }
    if (!counts) return;
    if (!shared_on_one) {
      plan_.output_update_share =
          static_cast<double>(output) /
          static_cast<double>(EmbeddingGradientBytes(config_));
    }
    if (options_.tied_embeddings && plan_.pipeline > 1) {
      // First and last rank lie a whole pipeline apart.
      const int64_t stride = plan_.tensor * plan_.data * (plan_.pipeline - 1);
      plan_.embedding_all_reduce_ns = GroupNs(
          output, 2, stride,
          plan_.tensor * plan_.data * plan_.pipeline <= config_.node_size);
    }
  }

 private:
  double InNode(int64_t bytes, int64_t members) const {
    return AllReduceNs(table_, config_.intra_node_bandwidth, bytes, members,
                       plan_.repairs.smooth_all_reduce);
  }

  double NodeLinks() const {
    return NodeBandwidth(config_.inter_node_bandwidth);
  }

  // An all-reduce of gradients in a group whose neighbours lie `stride` apart.
  double GroupNs(int64_t bytes, int64_t members, int64_t stride,
                 bool in_node) const {
    if (!plan_.repairs.place_data_groups) {
      return plan_.tensor < config_.node_size
                 ? InNode(bytes, members)
                 : RingNs(bytes, members, NodeLinks());
    }
    if (in_node) return InNode(bytes, members);
    // Every device of a node is in one such group; a ring leaves the node once,
    // so groups of g devices in the node share its links as node / g.
    const int64_t in_group =
        std::min(members, std::max<int64_t>(1, config_.node_size / stride));
    const double share =
        static_cast<double>(in_group) / static_cast<double>(config_.node_size);
    return RingNs(bytes, members, NodeLinks() * share);
  }

  // Ranks count through tensor, data, pipeline parallelism.
  double DataGroupNs(int64_t bytes) const {
    const int64_t stage = plan_.tensor * plan_.data;
    const bool in_node =
        stage * plan_.pipeline <= config_.node_size ||
        (stage <= config_.node_size && config_.node_size % stage == 0);
    return GroupNs(bytes, plan_.data, plan_.tensor, in_node);
  }

  double LinkNs(int64_t bytes, int64_t rank) const {
    const int64_t stage = plan_.tensor * plan_.data;
    const int64_t node = config_.node_size;
    const bool in_node = rank * stage / node == ((rank + 2) * stage - 1) / node;
    if (in_node) {
      return static_cast<double>(bytes) /
             (config_.intra_node_bandwidth * kGibi) * 1e9;
    }
    // The devices of a stage that stand in one node send at the same time.
    const auto senders = static_cast<double>(std::min(stage, node));
    return static_cast<double>(bytes) / (NodeLinks() / senders) * 1e9;
  }

  void PlanGradientsOf(RankKind kind, bool shared_on_one) {
    const int64_t embeddings =
        HasEmbeddings(kind) ? EmbeddingGradientBytes(config_) : 0;
    const int64_t output =
        HasOutput(kind) && !shared_on_one ? OutputGradientBytes(config_) : 0;
    const int64_t layer = TransformerGradientBytes(config_);
    plan_.data_all_reduce_ns[kind] =
        DataGroupNs(embeddings + plan_.layers * layer + output);
    if (!plan_.repairs.overlap_gradients) return;

    const int64_t wanted = config_.ddp_bucket_size.value_or(0) * kMebibyte;
    const int64_t layers = LayersOf(plan_, kind);
    int64_t gathered = 0;
    for (int64_t i = 0; i < layers; ++i) {
      const bool is_output = HasOutput(kind) && i == 0;
      const bool is_embeddings = HasEmbeddings(kind) && i + 1 == layers;
      gathered += is_output ? output : is_embeddings ? embeddings : layer;
      if (gathered > 0 && (gathered >= wanted || i + 1 == layers)) {
        plan_.buckets[kind].push_back({i, DataGroupNs(gathered)});
        gathered = 0;
      }
    }
  }

  const Config& config_;
  const PlanOptions& options_;
  const AllReduceTable& table_;
  Plan& plan_;
};

Error DividedByZero(const char* divisor) {
  return {ErrorKind::kZeroDivision, fmt::format("{} is 0", divisor)};
}

}  // namespace

Error MakePlan(const Config& config, const PlanOptions& options, Plan& plan) {
  const AllReduceTable* table = FindAllReduceTable(config.gpu_name);
  if (table == nullptr) {
    return {ErrorKind::kFileNotFound,
            fmt::format("vTrain has no all-reduce tables of '{}'; it has {}",
                        config.gpu_name, AllReduceTableNames())};
  }
  plan.repairs = options.repairs;
  plan.tensor = *config.tensor_parallel;
  plan.data = *config.data_parallel;
  plan.pipeline = *config.pipeline_parallel;
  plan.recompute = config.use_checkpoint;
  plan.micro_batches = MicroBatches(config);
  plan.layers = config.num_layers / plan.pipeline;
  const struct {
    const char* name;
    int64_t value;
    int64_t least;
  } sizes[] = {{"tensor_parallel_size", plan.tensor, 1},
               {"data_parallel_size", plan.data, 1},
               {"pipeline_parallel_size", plan.pipeline, 1},
               {"num_layers", config.num_layers, 0},
               {"micro_batch_size", *config.micro_batch, 1},
               {"hidden_size", config.hidden, 0},
               {"max_length", config.max_length, 0},
               {"vocab_size", config.vocab, 0}};
  for (const auto& size : sizes) {
    if (size.value < size.least) {
      return {ErrorKind::kIndex,
              fmt::format("{} is {}, must be at least {}", size.name,
                          size.value, size.least)};
    }
  }
  if (plan.micro_batches < 1) {
    return {ErrorKind::kIndex,
            fmt::format("micro_batch_size {} leaves no micro-batch of {} "
                        "sequences over {} data-parallel ranks",
                        *config.micro_batch, config.global_batch, plan.data)};
  }
  if (plan.layers == 0 && plan.pipeline > 2) {
    return {ErrorKind::kIndex,
            "a rank has no layer: num_layers is 0 with 3 stages or more"};
  }
  const bool between_nodes =
      plan.pipeline > 1 || (plan.data > 1 && plan.tensor >= config.node_size);
  if (config.inter_node_bandwidth == 0 && between_nodes) {
    return DividedByZero("inter_node_bandwidth");
  }
  const bool beyond_tables =
      plan.tensor > kLargestGroup || plan.data > kLargestGroup;
  if (config.intra_node_bandwidth == 0 && beyond_tables) {
    return DividedByZero("intra_node_bandwidth");
  }
  Planner planner(config, options, *table, plan);
  planner.PlanTensorParallelism();
  planner.PlanPipeline();
  planner.PlanGradients();
  return {};
}

}  // namespace lmsimbench::vtrain
