#include "lmsimbench/layout.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "fmt/format.h"
#include "lib/core/arithmetic.h"

namespace lmsimbench {
namespace {

// More stages than any machine has devices; keeps a wrong size from becoming a
// list that does not fit in memory.
constexpr int64_t kMostParts = 1 << 20;

std::string ListText(const std::vector<int64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

// "; nearest: [8,8,7,7]", or nothing where no list is.
std::string NearestList(int64_t layers, int64_t parts) {
  if (layers < parts) return "";
  return "; nearest: " +
         ListText(PlaceLayers(layers, parts, StagePlacement::kRemainderFirst));
}

absl::Status ExplicitChunks(const ModelSpec& model,
                            const ParallelConfig& config,
                            std::vector<int64_t>& by_chunk) {
  const std::vector<int64_t>& list = config.stage_layers;
  const int64_t chunks = ChunksPerRank(config);
  const auto size = static_cast<int64_t>(list.size());
  if (size != config.pp && size != config.pp * chunks) {
    return absl::InvalidArgumentError(fmt::format(
        "stage_layers {} has {} entries for {} stages of {} chunks{}",
        ListText(list), size, config.pp, chunks,
        NearestList(model.layers, config.pp)));
  }
  int64_t sum = 0;
  for (int64_t layers : list) {
    if (layers < 0 || layers > model.layers) {
      return absl::InvalidArgumentError(fmt::format(
          "stage_layers {} has an entry {} for a model of {} layers",
          ListText(list), layers, model.layers));
    }
    sum += layers;
  }
  if (sum != model.layers) {
    return absl::InvalidArgumentError(fmt::format(
        "stage_layers {} sums to {}, the model has {} layers{}", ListText(list),
        sum, model.layers, NearestList(model.layers, config.pp)));
  }
  if (size == config.pp * chunks) {
    by_chunk = list;
    return absl::OkStatus();
  }

  by_chunk.clear();
  for (int64_t chunk = 0; chunk < config.pp * chunks; ++chunk) {
    const int64_t layers =
        list[static_cast<size_t>(RankOfChunk(config, chunk))];
    if (layers % chunks != 0) {
      return absl::InvalidArgumentError(fmt::format(
          "stage_layers {}: {} layers of a stage do not divide into {} chunks; "
          "list the layers of all {} chunks",
          ListText(list), layers, chunks, config.pp * chunks));
    }
    by_chunk.push_back(layers / chunks);
  }
  return absl::OkStatus();
}

void PlaceRemainder(int64_t layers, int64_t parts, bool at_the_front,
                    std::vector<int64_t>& placed) {
  placed.assign(static_cast<size_t>(parts), layers / parts);
  const int64_t more = layers % parts;
  const auto first = at_the_front ? placed.begin() : placed.end() - more;
  std::for_each(first, first + more, [](int64_t& part) { ++part; });
}

void PlaceBalanced(int64_t layers, int64_t parts,
                   std::vector<int64_t>& placed) {
  // Fewer units than parts: the first and the last are full with the embedding
  // and the output layer, and the layers lie one each on the parts between.
  if (layers + 2 < parts) {
    placed.assign(static_cast<size_t>(parts), 0);
    std::fill_n(placed.begin() + 1, layers, int64_t{1});
    return;
  }
  PlaceRemainder(layers + 2, parts, true, placed);
  --placed.front();
  --placed.back();
}

// Empty where the policy does not place this number.
void PlaceInto(int64_t layers, int64_t parts, StagePlacement placement,
               std::vector<int64_t>& placed) {
  placed.clear();
  switch (placement) {
    case StagePlacement::kNotStated:
    case StagePlacement::kEven:
      if (layers % parts == 0) PlaceRemainder(layers, parts, true, placed);
      return;
    case StagePlacement::kRemainderFirst:
      return PlaceRemainder(layers, parts, true, placed);
    case StagePlacement::kRemainderLast:
      return PlaceRemainder(layers, parts, false, placed);
    case StagePlacement::kBalanced:
      return PlaceBalanced(layers, parts, placed);
  }
}

// Layers of `chunks` chunks on each rank.
absl::Status LayersOfChunks(const ModelSpec& model,
                            const ParallelConfig& config, int64_t chunks,
                            std::vector<int64_t>& layers) {
  if (!IsStated(model.layers)) {
    return absl::FailedPreconditionError(
        fmt::format("model '{}' does not state its layers", model.name));
  }
  const int64_t parts = SaturatingProduct(config.pp, chunks);
  if (model.layers < 1 || config.pp < 1 || chunks < 1 || parts > kMostParts) {
    return absl::InvalidArgumentError(
        fmt::format("cannot place {} layers on {} stages of {} chunks",
                    model.layers, config.pp, chunks));
  }
  if (!config.stage_layers.empty()) {
    return ExplicitChunks(model, config, layers);
  }

  PlaceInto(model.layers, parts, config.placement, layers);
  if (!layers.empty()) return absl::OkStatus();
  if (config.placement == StagePlacement::kNotStated) {
    return absl::FailedPreconditionError(fmt::format(
        "{} layers do not divide by {} stages of {} chunks, and neither "
        "placement nor stage_layers says which take more{}",
        model.layers, config.pp, chunks, NearestList(model.layers, parts)));
  }
  return absl::InvalidArgumentError(fmt::format(
      "even placement: {} layers do not divide by {} stages of {} chunks{}",
      model.layers, config.pp, chunks, NearestList(model.layers, parts)));
}

}  // namespace

int64_t PaddedVocab(int64_t vocab, int64_t divisor, int64_t tp) {
  const int64_t unit = SaturatingProduct(divisor, tp);
  return SaturatingProduct(CeilDivide(vocab, unit), unit);
}

int64_t ChunksPerRank(const ParallelConfig& config) {
  if (IsVShaped(config.schedule)) return 2;
  return IsStated(config.vpp) ? config.vpp : 1;
}

bool SplitsBackward(Schedule schedule) {
  switch (schedule) {
    case Schedule::kZeroBubbleH1:
    case Schedule::kZeroBubbleH2:
    case Schedule::kZeroBubbleV:
    case Schedule::kDualPipe:
    case Schedule::kDualPipeV:
      return true;
    default:
      return false;
  }
}

bool IsVShaped(Schedule schedule) {
  return schedule == Schedule::kZeroBubbleV || schedule == Schedule::kDualPipeV;
}

int64_t RankOfCopy(const ParallelConfig& config, int64_t rank) {
  return config.schedule == Schedule::kDualPipe && config.pp > 1
             ? config.pp - 1 - rank
             : kNoCount;
}

int64_t RankOfChunk(const ParallelConfig& config, int64_t chunk) {
  const int64_t rank = chunk % config.pp;
  const bool back = IsVShaped(config.schedule) && chunk >= config.pp;
  return back ? config.pp - 1 - rank : rank;
}

std::vector<int64_t> PlaceLayers(int64_t layers, int64_t parts,
                                 StagePlacement placement) {
  std::vector<int64_t> placed;
  PlaceInto(layers, parts, placement, placed);
  return placed;
}

absl::Status ChunkLayersInto(const ModelSpec& model,
                             const ParallelConfig& config,
                             std::vector<int64_t>& layers) {
  return LayersOfChunks(model, config, ChunksPerRank(config), layers);
}

absl::StatusOr<std::vector<int64_t>> ChunkLayers(const ModelSpec& model,
                                                 const ParallelConfig& config) {
  std::vector<int64_t> layers;
  absl::Status status = ChunkLayersInto(model, config, layers);
  if (!status.ok()) return status;
  return layers;
}

absl::StatusOr<std::vector<int64_t>> StageLayers(const ModelSpec& model,
                                                 const ParallelConfig& config) {
  // A list of stages, and layers that divide by the stages, answer without
  // knowing how a stage is cut into chunks.
  if (static_cast<int64_t>(config.stage_layers.size()) == config.pp ||
      (config.stage_layers.empty() &&
       config.placement == StagePlacement::kNotStated)) {
    ParallelConfig uncut = config;
    uncut.vpp = 1;
    uncut.schedule = Schedule::kNotStated;
    std::vector<int64_t> by_rank;
    absl::Status status = LayersOfChunks(model, uncut, 1, by_rank);
    if (!status.ok()) return status;
    return by_rank;
  }
  absl::StatusOr<std::vector<int64_t>> by_chunk = ChunkLayers(model, config);
  if (!by_chunk.ok()) return by_chunk.status();
  std::vector<int64_t> by_rank(static_cast<size_t>(config.pp), 0);
  for (size_t chunk = 0; chunk < by_chunk->size(); ++chunk) {
    const int64_t rank = RankOfChunk(config, static_cast<int64_t>(chunk));
    by_rank[static_cast<size_t>(rank)] += (*by_chunk)[chunk];
  }
  return by_rank;
}

int64_t KvReplication(int64_t kv_heads, int64_t tp) {
  return std::max<int64_t>(1, tp / kv_heads);
}

int64_t ExpertTensorParallel(const ParallelConfig& config) {
  if (IsStated(config.etp)) return config.etp;
  const int64_t ep = IsStated(config.ep) ? config.ep : 1;
  const int64_t group = SaturatingProduct(config.tp, ep, config.pp);
  return Devices(config) % group == 0 ? config.tp : 1;
}

int64_t ExpertDataParallel(const ParallelConfig& config) {
  const int64_t ep = IsStated(config.ep) ? config.ep : 1;
  return Devices(config) /
         SaturatingProduct(ExpertTensorParallel(config), ep, config.pp);
}

int64_t ContextInner(const ParallelConfig& config) {
  if (config.context_algorithm == ContextAlgorithm::kUlysses) return config.cp;
  if (config.context_algorithm != ContextAlgorithm::kHybrid) return 1;
  if (IsStated(config.context_inner)) return config.context_inner;
  int64_t inner = 1;
  for (int64_t n = 2; n * n <= config.cp; ++n) {
    if (config.cp % n == 0) inner = n;
  }
  return inner;
}

int64_t MicroBatches(const Workload& workload, const ParallelConfig& config) {
  if (!IsStated(workload.global_batch) || !IsStated(config.micro_batch)) {
    return config.grad_accumulation;
  }
  const int64_t together = SaturatingProduct(config.dp, config.micro_batch);
  return workload.global_batch % together == 0
             ? workload.global_batch / together
             : kNoCount;
}

}  // namespace lmsimbench
