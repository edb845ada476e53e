#pragma once

#include "lib/simulators/calculon/block_sums.h"
#include "lib/simulators/calculon/check.h"

namespace lmsimbench::calculon {

/// A value for each kind of block.
struct ByKind {
  double base = 0;
  double edge = 0;
};

/// Times of a whole batch on one processor and what they are made of; seconds.
struct BatchTimes {
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double recompute = 0;
  double redone_link = 0;
  double redone_exposed = 0;
  double tensor_link = 0;
  double tensor_exposed = 0;
  double pipeline_link = 0;  ///< all of it exposed
  double forward_offload_exposed = 0;
  double backward_offload_exposed = 0;
  double bubble = 0;

  double forward_offload_bytes = 0;   ///< of a block, to the second memory tier
  double backward_offload_bytes = 0;  ///< of a block, from there
  double backward_transfer = 0;  ///< cb, one pipeline transfer of gradients

  // One block and micro-batch, with exposed communication:
  ByKind block_forward_unoffloaded;
  ByKind block_backward_unoffloaded;
  ByKind block_backward;      ///< and waiting for offloaded data
  double chunk_backward = 0;  ///< the blocks of a chunk
};

/// What activations of a block take where they are offloaded.
double OffloadedActivations(const Execution& execution, const BlockSums& sums);

/// Section "batch times" of the model. MEM_UNCOVERED, DIV0_MEM2_BW of the
/// second memory tier.
ErrorCode TimeBatch(const Execution& execution, const Geometry& geometry,
                    const System& system, const Placement& placement,
                    const BlockSums& sums, BatchTimes& times);

}  // namespace lmsimbench::calculon
