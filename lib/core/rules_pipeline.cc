#include <algorithm>
#include <numeric>
#include <vector>

#include "lib/core/rules.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::legality {
namespace {

// Embedding, final norm, output layer and loss may be stages of their own where
// the framework places the network in its own way: 28 layers have been measured
// on 32 stages, and none of the attempts to put 16 layers on 32 ran.
constexpr int64_t kPartsBesideLayers = 4;

bool IsBidirectional(Schedule schedule) {
  return schedule == Schedule::kDualPipe || schedule == Schedule::kDualPipeV;
}
std::string ScheduleName(const Subject& s) {
  return std::string(Name(s.config.schedule));
}
std::string ListText(const std::vector<int64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

bool ListLength(const Subject& s, std::string* why) {
  const auto length = static_cast<int64_t>(s.config.stage_layers.size());
  const int64_t chunks =
      SaturatingProduct(s.config.pp, ChunksPerRank(s.config));
  if (length == 0 || length == s.config.pp || length == chunks) return true;
  return Broken(why,
                "stage_layers {} has {} entries for {} stages and {} chunks",
                ListText(s.config.stage_layers), length, s.config.pp, chunks);
}

bool ListSum(const Subject& s, std::string* why) {
  const std::vector<int64_t>& list = s.config.stage_layers;
  if (list.empty() || !IsStated(s.model.layers)) return true;
  const int64_t sum = std::accumulate(list.begin(), list.end(), int64_t{0});
  if (sum == s.model.layers) return true;
  return Broken(why, "stage_layers {} sums to {}, the model has {} layers",
                ListText(list), sum, s.model.layers);
}

bool EvenStages(const Subject& s, std::string* why) {
  if (!s.config.stage_layers.empty() ||
      s.config.placement != StagePlacement::kEven ||
      !Indivisible(s.model.layers, s.config.pp)) {
    return true;
  }
  return Broken(why, "even placement: {} layers do not divide by {} stages",
                s.model.layers, s.config.pp);
}

// A list of stages, or even placement, is cut into equal chunks; other policies
// place chunk by chunk.
bool EvenChunks(const Subject& s, std::string* why) {
  const int64_t chunks = ChunksPerRank(s.config);
  if (chunks == 1) return true;
  const std::vector<int64_t>& list = s.config.stage_layers;
  if (static_cast<int64_t>(list.size()) == s.config.pp) {
    for (int64_t layers : list) {
      if (layers % chunks == 0) continue;
      return Broken(why,
                    "{} layers of a stage do not divide into {} chunks; "
                    "stage_layers may list the layers of all {} chunks",
                    layers, chunks, s.config.pp * chunks);
    }
  }
  if (!list.empty() || s.config.placement != StagePlacement::kEven ||
      !IsStated(s.model.layers) || s.model.layers % s.config.pp != 0) {
    return true;
  }
  const int64_t layers = s.model.layers / s.config.pp;
  if (layers % chunks == 0) return true;
  return Broken(why,
                "even placement: {} layers of a stage do not divide into {} "
                "chunks",
                layers, chunks);
}

bool StagesHoldSomething(const Subject& s, std::string* why) {
  if (!IsStated(s.model.layers)) return true;
  const int64_t chunks =
      SaturatingProduct(s.config.pp, ChunksPerRank(s.config));
  int64_t most = s.model.layers;
  if (!s.config.stage_layers.empty() ||
      s.config.placement == StagePlacement::kNotStated) {
    most += kPartsBesideLayers;
  } else if (s.config.placement == StagePlacement::kBalanced) {
    most += 2;  // the embedding and the output layer
  }
  if (chunks <= most) return true;
  return Broken(why,
                "{} stages of {} chunks for {} layers: at most {} chunks have "
                "something to hold",
                s.config.pp, ChunksPerRank(s.config), s.model.layers, most);
}

bool VirtualNeedsPipeline(const Subject& s, std::string* why) {
  if (s.config.vpp <= 1 || s.config.pp > 1) return true;
  return Broken(why, "{} virtual stages without a pipeline (PP 1)",
                s.config.vpp);
}

bool InterleavedNeedsVirtual(const Subject& s, std::string* why) {
  if (s.config.schedule != Schedule::kInterleaved1F1B || s.config.vpp != 1 ||
      s.config.pp == 1) {
    return true;
  }
  return Broken(why, "an interleaved schedule with one chunk a rank (vpp 1)");
}

bool VirtualFitsSchedule(const Subject& s, std::string* why) {
  int64_t most = 1;
  switch (s.config.schedule) {
    case Schedule::kNotStated:
    case Schedule::kGPipe:
    case Schedule::kInterleaved1F1B:
      return true;
    case Schedule::k1F1B:
    case Schedule::kZeroBubbleH1:
    case Schedule::kZeroBubbleH2:
    case Schedule::kDualPipe:
      break;
    case Schedule::kZeroBubbleV:
    case Schedule::kDualPipeV:
      most = 2;
  }
  if (s.config.vpp <= most) return true;
  return Broken(why, "{} virtual stages; schedule {} runs {} on a rank",
                s.config.vpp, ScheduleName(s), most);
}

bool InterleavedMicroBatches(const Subject& s, std::string* why) {
  const bool interleaved =
      s.config.schedule == Schedule::kInterleaved1F1B ||
      (s.config.schedule == Schedule::kNotStated && s.config.vpp > 1);
  const int64_t micro_batches = MicroBatches(s.workload, s.config);
  if (!interleaved || s.config.pp == 1 || !IsStated(micro_batches) ||
      micro_batches >= s.config.pp) {
    return true;
  }
  return Broken(
      why,
      "interleaved schedule, PP {}, {} micro-batches: needs at least "
      "PP micro-batches (group size in [PP, m], m mod group = 0 or >= "
      "PP)",
      s.config.pp, micro_batches);
}

// Megatron-LM's rule: a last, smaller group still fills the pipeline.
bool MicroBatchGroup(const Subject& s, std::string* why) {
  const int64_t group = s.config.micro_batch_group;
  const int64_t micro_batches = MicroBatches(s.workload, s.config);
  if (!IsStated(group) || !IsStated(micro_batches) || s.config.pp == 1) {
    return true;
  }
  if (group < s.config.pp || group > micro_batches) {
    return Broken(why,
                  "a micro-batch group of {} with PP {} and {} micro-batches: "
                  "group size in [PP, m]",
                  group, s.config.pp, micro_batches);
  }
  const int64_t rest = micro_batches % group;
  if (rest == 0 || rest >= s.config.pp) return true;
  return Broken(why,
                "{} micro-batches in groups of {} leave {}, PP {}: m mod group "
                "= 0 or >= PP",
                micro_batches, group, rest, s.config.pp);
}

bool DualPipeStages(const Subject& s, std::string* why) {
  if (s.config.schedule != Schedule::kDualPipe || s.config.pp == 1 ||
      s.config.pp % 2 == 0) {
    return true;
  }
  return Broken(why, "dualpipe pairs the stages from both ends; PP {} is odd",
                s.config.pp);
}

bool BidirectionalMicroBatches(const Subject& s, std::string* why) {
  const int64_t micro_batches = MicroBatches(s.workload, s.config);
  if (!IsBidirectional(s.config.schedule) || s.config.pp == 1 ||
      !IsStated(micro_batches)) {
    return true;
  }
  if (micro_batches < 2 * s.config.pp) {
    return Broken(why, "{}, PP {}, {} micro-batches: needs at least 2 * PP",
                  ScheduleName(s), s.config.pp, micro_batches);
  }
  if (s.config.schedule == Schedule::kDualPipe && micro_batches % 2 != 0) {
    return Broken(why,
                  "dualpipe sends half of the micro-batches from each end; {} "
                  "are odd",
                  micro_batches);
  }
  return true;
}

// A list of chunks, or a policy that places chunk by chunk, says itself how the
// layers of a rank are halved.
bool EvenLayersOfRanks(const Subject& s, std::string* why) {
  if ((!IsBidirectional(s.config.schedule) && !IsVShaped(s.config.schedule)) ||
      s.config.pp == 1) {
    return true;
  }
  const auto odd = [&s, why](int64_t layers) {
    return Broken(why,
                  "schedule {} halves the layers of a rank; {} layers are odd",
                  ScheduleName(s), layers);
  };
  const std::vector<int64_t>& list = s.config.stage_layers;
  if (static_cast<int64_t>(list.size()) == s.config.pp) {
    for (int64_t layers : list) {
      if (layers % 2 != 0) return odd(layers);
    }
  }
  const bool even = s.config.placement == StagePlacement::kNotStated ||
                    s.config.placement == StagePlacement::kEven;
  if (!list.empty() || !even || !IsStated(s.model.layers) ||
      s.model.layers % s.config.pp != 0) {
    return true;
  }
  const int64_t layers = s.model.layers / s.config.pp;
  return layers % 2 == 0 || odd(layers);
}

constexpr Rule kRules[] = {
    {"stage list has an entry a stage or chunk", ListLength, {"stage_layers"}},
    {"stage list sums to the layers", ListSum, {"stage_layers"}},
    {"layers divide evenly by the stages",
     EvenStages,
     {"stage_layers", "placement", "pp"}},
    {"layers of a stage divide into chunks",
     EvenChunks,
     {"vpp", "stage_layers", "placement", "schedule"}},
    {"every stage holds a part of the network",
     StagesHoldSomething,
     {"pp", "vpp", "placement", "schedule"}},
    {"virtual stages need a pipeline", VirtualNeedsPipeline, {"vpp", "pp"}},
    {"interleaving needs virtual stages",
     InterleavedNeedsVirtual,
     {"vpp", "schedule"}},
    {"virtual stages fit the schedule",
     VirtualFitsSchedule,
     {"vpp", "schedule"}},
    {"interleaving has a micro-batch for each stage",
     InterleavedMicroBatches,
     {"micro_batch", "vpp", "schedule", "grad_accumulation", "global_batch",
      "pp"}},
    {"micro-batch group fills the pipeline",
     MicroBatchGroup,
     {"micro_batch_group", "global_batch"}},
    {"dualpipe has an even number of stages",
     DualPipeStages,
     {"pp", "schedule"}},
    {"bidirectional schedules have two micro-batches for each stage",
     BidirectionalMicroBatches,
     {"micro_batch", "schedule", "grad_accumulation", "global_batch", "pp"}},
    {"bidirectional and V-shaped schedules have even layers on a rank",
     EvenLayersOfRanks,
     {"stage_layers", "placement", "schedule", "pp"}},
};

}  // namespace

absl::Span<const Rule> PipelineRules() { return kRules; }

}  // namespace lmsimbench::legality
