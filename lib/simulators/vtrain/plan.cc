#include "lib/simulators/vtrain/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace lmsimbench::vtrain {
namespace {

constexpr double kGibi = 1073741824.0;
constexpr int64_t kMebibyte = 1048576;

// What a time out of the tables rests on.
Evidence EvidenceOfTable(int64_t bytes, int64_t members) {
  if (members < kSmallestGroup || members > kLargestGroup) {
    return Evidence::kAnalytic;
  }
  if (bytes < kMebibyte / 2 || bytes > kLargestMebibytes * kMebibyte) {
    return Evidence::kExtrapolated;
  }
  return bytes % kMebibyte == 0 ? Evidence::kMeasured : Evidence::kInterpolated;
}

class Planner {
 public:
  // Without a table the cost model of the options answers.
  Planner(const Config& config, const PlanOptions& options,
          const AllReduceTable* table, Plan& plan)
      : config_(config), options_(options), table_(table), plan_(plan) {}

  // The first communication that was not answered.
  const Error& error() const { return error_; }

  void PlanTensorParallelism() {
    plan_.tensor_all_reduce_ns = 0;
    if (plan_.tensor == 1) return;
    const int64_t bytes = ActivationBytes(config_);
    plan_.tensor_evidence = EvidenceOfTable(bytes, plan_.tensor);
    plan_.tensor_all_reduce_ns =
        table_ != nullptr
            ? InNode(bytes, plan_.tensor)
            : Ask(CollectiveKind::kAllReduce, Group::kTensor, bytes,
                  plan_.tensor, std::min(plan_.tensor, config_.node_size),
                  plan_.tensor_evidence);
  }

  void PlanPipeline() {
    plan_.hops_ns.clear();
    plan_.hop_evidence = Evidence::kAnalytic;
    const int64_t activation = ActivationBytes(config_);
    for (int64_t rank = 0; rank + 1 < plan_.pipeline; ++rank) {
      plan_.hops_ns.push_back(
          table_ == nullptr
              ? Ask(CollectiveKind::kSendReceive, Group::kPipeline, activation,
                    2, LinkInNode(rank) ? 2 : 1, plan_.hop_evidence)
          : plan_.repairs.hop_by_link
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
      for (const RankKind kind : {kOnly, kFirst, kMiddle, kLast}) {
        if (IsThere(kind)) PlanGradientsOf(kind, shared_on_one);
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
          Group::kEmbedding, output, 2, stride,
          plan_.tensor * plan_.data * plan_.pipeline <= config_.node_size);
    }
  }

 private:
  bool IsThere(RankKind kind) const {
    if (kind == kOnly) return plan_.pipeline == 1;
    return plan_.pipeline > (kind == kMiddle ? 2 : 1);
  }

  double InNode(int64_t bytes, int64_t members) const {
    return AllReduceNs(*table_, config_.intra_node_bandwidth, bytes, members,
                       plan_.repairs.smooth_all_reduce);
  }

  // What the cost model says of a group with so many members in each node.
  double Ask(CollectiveKind kind, Group group, int64_t bytes, int64_t members,
             int64_t in_node, Evidence& evidence) {
    SpannedCollective asked;
    asked.collective = {kind, group, bytes};
    asked.span.members = members;
    asked.span.nodes = (members + in_node - 1) / in_node;
    asked.span.members_per_node = in_node;
    asked.span.level = asked.span.nodes > 1 ? 1 : 0;
    if (asked.collective == asked_.collective && asked.span == asked_.span) {
      evidence = cost_.evidence;
      return cost_.seconds * 1e9;
    }
    asked_ = asked;
    cost_ = {};
    const absl::Status status =
        options_.model->Costs(*options_.system, absl::MakeConstSpan(&asked, 1),
                              absl::MakeSpan(&cost_, 1));
    if (error_.ok() && !status.ok()) {
      error_ = {ErrorKind::kNotAnswered, std::string(status.message())};
    }
    if (error_.ok() && cost_.evidence == Evidence::kNotAnswered) {
      error_ = {ErrorKind::kNotAnswered,
                fmt::format("cost model '{}' does not answer {}",
                            options_.model->name(), Describe(asked))};
    }
    evidence = cost_.evidence;
    return cost_.seconds * 1e9;
  }

  double NodeLinks() const {
    return NodeBandwidth(config_.inter_node_bandwidth);
  }

  // An all-reduce of gradients in a group whose neighbours lie `stride` apart.
  double GroupNs(Group group, int64_t bytes, int64_t members, int64_t stride,
                 bool in_node) {
    // Every device of a node is in one such group.
    const int64_t in_group =
        std::min(members, std::max<int64_t>(1, config_.node_size / stride));
    if (table_ == nullptr) {
      return Ask(CollectiveKind::kAllReduce, group, bytes, members,
                 in_node ? members : in_group, plan_.data_evidence);
    }
    const bool tabled = plan_.repairs.place_data_groups
                            ? in_node
                            : plan_.tensor < config_.node_size;
    if (group == Group::kData) {
      plan_.data_evidence =
          tabled ? EvidenceOfTable(bytes, members) : Evidence::kAnalytic;
    }
    if (tabled) return InNode(bytes, members);
    if (!plan_.repairs.place_data_groups) {
      return RingNs(bytes, members, NodeLinks());
    }
    // A ring leaves the node once, so groups of g devices in the node share its
    // links as node / g.
    const double share =
        static_cast<double>(in_group) / static_cast<double>(config_.node_size);
    return RingNs(bytes, members, NodeLinks() * share);
  }

  // Ranks count through tensor, data, pipeline parallelism.
  double DataGroupNs(int64_t bytes) {
    const int64_t stage = plan_.tensor * plan_.data;
    const bool in_node =
        stage * plan_.pipeline <= config_.node_size ||
        (stage <= config_.node_size && config_.node_size % stage == 0);
    return GroupNs(Group::kData, bytes, plan_.data, plan_.tensor, in_node);
  }

  // Rank and the one behind it stand in one node.
  bool LinkInNode(int64_t rank) const {
    const int64_t stage = plan_.tensor * plan_.data;
    return rank * stage / config_.node_size ==
           ((rank + 2) * stage - 1) / config_.node_size;
  }

  double LinkNs(int64_t bytes, int64_t rank) const {
    if (LinkInNode(rank)) {
      return static_cast<double>(bytes) /
             (config_.intra_node_bandwidth * kGibi) * 1e9;
    }
    // The devices of a stage that stand in one node send at the same time.
    const auto senders = static_cast<double>(
        std::min(plan_.tensor * plan_.data, config_.node_size));
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
  const AllReduceTable* table_;
  Plan& plan_;
  Error error_;
  SpannedCollective asked_;
  Cost cost_;
};

// Where groups lie is of no interest to the original.
bool PlacesGroups(const VtrainRepairs& repairs) {
  return repairs.place_data_groups || repairs.hop_by_link ||
         repairs.model_other_devices;
}

// Sizes in bytes that whole numbers hold.
Error CheckSizes(const Config& config) {
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  const double hidden = real(config.hidden);
  const double activation =
      2 * real(*config.micro_batch) * real(config.max_length) * hidden;
  const double gradients = 2 * hidden *
                           (real(config.num_layers) * (12 * hidden + 16) +
                            2 * real(config.vocab) + real(config.max_length));
  constexpr double kMost = 1e18;
  if (activation < kMost && gradients < kMost) return {};
  return {ErrorKind::kValue,
          fmt::format("messages of {:.3g} and gradients of {:.3g} bytes are "
                      "more than whole numbers count",
                      activation, gradients)};
}

Error DividedByZero(const char* divisor) {
  return {ErrorKind::kZeroDivision, fmt::format("{} is 0", divisor)};
}

}  // namespace

Error MakePlan(const Config& config, const PlanOptions& options, Plan& plan) {
  const AllReduceTable* table = FindAllReduceTable(config.gpu_name);
  const bool modelled =
      options.repairs.model_other_devices && options.model != nullptr;
  if (table == nullptr && !modelled) {
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
               {"node_size", config.node_size,
                PlacesGroups(options.repairs) ? 1 : INT64_MIN},
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
  const Error size_error = CheckSizes(config);
  if (!size_error.ok()) return size_error;
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
  Planner planner(config, options, table, plan);
  planner.PlanTensorParallelism();
  planner.PlanPipeline();
  planner.PlanGradients();
  return planner.error();
}

}  // namespace lmsimbench::vtrain
