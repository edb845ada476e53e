#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/simulators/vtrain/all_reduce.h"
#include "lib/simulators/vtrain/config.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/evidence.h"
#include "lmsimbench/system.h"

namespace lmsimbench::vtrain {

/// Pipeline ranks that hold the same layers.
enum RankKind : uint8_t { kFirst, kMiddle, kLast, kOnly };
inline constexpr int kRankKinds = 4;

inline bool HasEmbeddings(RankKind kind) {
  return kind == kFirst || kind == kOnly;
}
inline bool HasOutput(RankKind kind) { return kind == kLast || kind == kOnly; }

/// Gradients that are reduced together.
struct Bucket {
  /// Ready when this layer of the backward pass, counted from 0 in the order in
  /// which it runs, has ended.
  int64_t after_layer = 0;
  double duration_ns = 0;
};

/// What one iteration consists of beside its kernels: counts, and how long
/// every communication takes. Durations are nanoseconds.
struct Plan {
  VtrainRepairs repairs;
  int64_t tensor = 1;
  int64_t data = 1;
  int64_t pipeline = 1;
  /// Transformer layers of a rank.
  int64_t layers = 0;
  int64_t micro_batches = 0;
  bool recompute = false;
  /// One all-reduce of activations; there are two a layer and pass.
  double tensor_all_reduce_ns = 0;
  Evidence tensor_evidence = Evidence::kAnalytic;
  /// Between ranks r and r + 1, `pipeline - 1` entries; behind a forward pass
  /// of r and a backward pass of r + 1.
  std::vector<double> hops_ns;
  Evidence hop_evidence = Evidence::kAnalytic;
  /// Gradients of a rank, by kind, all at once.
  std::array<double, kRankKinds> data_all_reduce_ns = {};
  Evidence data_evidence = Evidence::kAnalytic;
  /// The same in buckets, with `VtrainRepairs::overlap_gradients`.
  std::array<std::vector<Bucket>, kRankKinds> buckets;
  /// First and last rank, gradients of the embedding that they share; 0: none.
  double embedding_all_reduce_ns = 0;
  /// Parameters of the output layer per parameter of the embeddings, with
  /// `VtrainRepairs::count_output_layer`; 0: not updated.
  double output_update_share = 0;
};

/// Kind of a rank of the plan.
inline RankKind KindOf(const Plan& plan, int64_t rank) {
  if (plan.pipeline == 1) return kOnly;
  if (rank == 0) return kFirst;
  return rank == plan.pipeline - 1 ? kLast : kMiddle;
}

/// Layers of a rank: transformer layers, embeddings, output layer.
inline int64_t LayersOf(const Plan& plan, RankKind kind) {
  return plan.layers + (HasEmbeddings(kind) ? 1 : 0) +
         (HasOutput(kind) ? 1 : 0);
}

/// True if a rank of this kind recomputes.
inline bool Recomputes(const Plan& plan, RankKind kind) {
  return plan.recompute &&
         (plan.repairs.recompute_everywhere || !HasOutput(kind));
}

/// What a question may state beyond a configuration of vTrain.
struct PlanOptions {
  VtrainRepairs repairs;
  /// Embedding and output layer share their weights, as in Megatron-LM's GPT.
  bool tied_embeddings = true;
  /// \{ For `VtrainRepairs::model_other_devices`: what answers collectives of
  /// an accelerator without tables. Borrowed; null: nothing does.
  const CostModel* model = nullptr;
  const System* system = nullptr;
  /// \}
};

/// Plans a resolved configuration. `plan` keeps what it has allocated.
/// `kNotAnswered` for what the cost model does not answer.
/// FileNotFoundError without all-reduce tables, IndexError where a rank has no
/// work, ZeroDivisionError for a bandwidth of 0 that is needed, in the order of
/// the original.
Error MakePlan(const Config& config, const PlanOptions& options, Plan& plan);

}  // namespace lmsimbench::vtrain
