#pragma once

#include <cstdint>
#include <random>

#include "lmsimbench/cost_model.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// A small dense workload on a small system, divided at random: every schedule,
/// overlap, recomputation, sharding and placement that the pipeline models.
/// Legal more often than not.
struct RandomIteration {
  Workload workload;
  System system;
  ParallelConfig config;
};
RandomIteration MakeRandomIteration(std::mt19937_64& random);

/// The same with experts, latent attention, value heads of another width,
/// multi-token prediction, and context and expert parallelism, each now and
/// then.
RandomIteration MakeRandomSparseIteration(std::mt19937_64& random);

/// Either of them with sharded parameters (ZeRO-3), over all ranks that hold
/// the same ones or over a part of them, ahead and beside or not.
RandomIteration MakeRandomShardedIteration(std::mt19937_64& random);

/// The same, dense or not, under a schedule whose backward passes are split.
RandomIteration MakeRandomSplitIteration(std::mt19937_64& random);

/// Any of them with many micro-batches, so that most iterations come to a
/// steady state.
RandomIteration MakeRandomDeepIteration(std::mt19937_64& random);

/// Answers every question with seconds drawn from the question and a seed: from
/// a few values, so that ties are common, zero among them, or from many.
class RandomCostModel final : public CostModel {
 public:
  /// With `has_host` some costs have time of the host. Transfers along the
  /// pipeline take `slow_links` times what is drawn, what is gathered and
  /// reduced over data parallelism `slow_data` times. With `has_contention`
  /// communication slows what is beside it.
  explicit RandomCostModel(uint64_t seed, bool has_host = false,
                           double slow_links = 1, double slow_data = 1,
                           bool has_contention = false)
      : CostModel("random"),
        seed_(seed),
        has_host_(has_host),
        slow_links_(slow_links),
        slow_data_(slow_data),
        has_contention_(has_contention) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override;
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override;
  Contention DoContentionOn(const System& system) const override;

  uint64_t seed_;
  bool has_host_;
  double slow_links_;
  double slow_data_;
  bool has_contention_;
};

}  // namespace lmsimbench
