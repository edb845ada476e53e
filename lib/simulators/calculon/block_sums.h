#pragma once

#include "lib/simulators/calculon/block.h"

namespace lmsimbench::calculon {

/// Tensor-parallel communication of one stage, by kind of block.
struct CommunicationSums {
  std::array<double, kBlockKindCount> size;     ///< bytes
  std::array<double, kBlockKindCount> time;     ///< on the link
  std::array<double, kBlockKindCount> exposed;  ///< not hidden
};

/// Sums over the layers of one block for one micro-batch. In inference, all but
/// the forward costs, the weights and the activations are 0.
struct BlockSums {
  Cost forward;
  /// As the original counts it: all but `time` add up the block's running sums
  /// and so grow with the square of the number of layers.
  Cost recompute;
  Cost activation_grad;
  Cost weight_grad;
  Cost optimizer;

  CommunicationSums forward_comm;
  CommunicationSums redone_comm;
  CommunicationSums activation_grad_comm;
  double required_tensor_bandwidth;

  double weight_space;
  double working_space =
      0;                ///< activations of the block that is being computed
  double stored_space;  ///< activations kept for the backward pass
  double checkpoint_space =
      0;  ///< input of the block, kept where all is recomputed
  double weight_grad_space;
  double weight_grad_space_full;
  double activation_grad_space;
  double optimizer_space;
  double useful_flops;  ///< all stages, recomputation excluded

  double forward_transfer;   ///< bytes to the next pipeline stage
  double backward_transfer;  ///< bytes to the previous one
};

BlockSums SumBlock(const Block& block, const Execution& execution,
                   const Geometry& geometry, double element_bytes);

}  // namespace lmsimbench::calculon
