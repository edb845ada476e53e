#include "lib/simulators/calculon/memory.h"

#include <algorithm>
#include <limits>

namespace lmsimbench::calculon {
namespace {

// Micro-batches whose activations are kept at once, in units of all blocks of
// the processor: those in flight in a 1F1B pipeline, and with interleaving part
// of a further round.
double MicrobatchesInFlight(const Execution& e, const Geometry& geometry) {
  const auto microbatches =
      static_cast<double>(std::min(geometry.microbatches, e.pipeline_par));
  if (e.pipeline_interleaving == 1) return microbatches;
  return microbatches * (1 + static_cast<double>(e.pipeline_par - 1) /
                                 static_cast<double>(e.pipeline_interleaving *
                                                     e.pipeline_par));
}

Spaces AllSpaces(const Execution& e, const Geometry& geometry,
                 const BlockSums& sums) {
  const auto blocks = static_cast<double>(geometry.blocks);
  Spaces spaces;
  spaces.weight = sums.weight_space * blocks;
  spaces.activation = sums.working_space;
  if (!e.training) return spaces;
  const double in_flight = MicrobatchesInFlight(e, geometry);
  if (e.activation_recompute == Recompute::kFull) {
    spaces.checkpoint = blocks * sums.checkpoint_space * in_flight;
  } else {
    spaces.activation =
        sums.working_space + sums.stored_space * (blocks * in_flight - 1);
  }
  spaces.activation_grad = sums.activation_grad_space;
  spaces.weight_grad =
      geometry.blocks == 1
          ? sums.weight_grad_space_full
          : sums.weight_grad_space_full + sums.weight_grad_space * (blocks - 1);
  spaces.optimizer = sums.optimizer_space * blocks;
  return spaces;
}

Spaces ResidentSpaces(const Execution& e, const BlockSums& sums) {
  const bool full = e.activation_recompute == Recompute::kFull;
  Spaces spaces;
  spaces.weight = sums.weight_space * 2;
  spaces.activation =
      full ? sums.working_space : sums.working_space + sums.stored_space;
  if (!e.training) {
    spaces.checkpoint = std::numeric_limits<double>::quiet_NaN();
    return spaces;
  }
  spaces.checkpoint = full ? sums.checkpoint_space * 2 : 0;
  spaces.activation_grad = sums.activation_grad_space;
  spaces.weight_grad = sums.weight_grad_space_full + sums.weight_grad_space;
  spaces.optimizer = sums.optimizer_space * 2;
  return spaces;
}

}  // namespace

MemoryUse UseMemory(const Execution& e, const Geometry& geometry,
                    const BlockSums& sums) {
  MemoryUse use;
  use.all = AllSpaces(e, geometry, sums);
  use.resident = ResidentSpaces(e, sums);
  const bool full = e.activation_recompute == Recompute::kFull;

  if (e.weight_offload) {
    use.tier1 += use.resident.weight;
    use.tier2 += use.all.weight;
  } else {
    use.tier1 += use.all.weight;
  }
  if (e.activations_offload && full) {
    use.tier1 += use.resident.activation;
    use.tier1 += use.resident.checkpoint;
    use.tier2 += use.all.checkpoint;
  } else if (e.activations_offload) {
    use.tier1 += use.resident.activation;
    use.tier2 += use.all.activation;
  } else {
    use.tier1 += use.all.activation;
    use.tier1 += use.all.checkpoint;
  }
  if (e.optimizer_offload) {
    use.tier1 += use.resident.weight_grad;
    use.tier1 += use.resident.optimizer;
    use.tier2 += sums.weight_grad_space * static_cast<double>(geometry.blocks);
    use.tier2 += use.all.optimizer;
  } else {
    use.tier1 += use.all.weight_grad + use.all.optimizer;
  }
  use.tier1 += use.all.activation_grad;
  return use;
}

}  // namespace lmsimbench::calculon
