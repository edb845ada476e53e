#pragma once

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// How the model is divided: every processor is modelled as the first one,
/// which holds the most blocks. Counts that enter products with times are
/// doubles, exact below 2^53.
struct Geometry {
  int64_t blocks = 0;  ///< L, blocks per processor: the quotient, rounded up
  int64_t missing_blocks = 0;  ///< r, processors with one block fewer
  int64_t chunk_blocks = 0;    ///< Lc, blocks of one of the interleaved chunks
  int64_t base_blocks =
      0;  ///< nb, blocks of a chunk behind which no pipeline transfer follows
  int64_t microbatches = 0;  ///< nm, per data-parallel replica

  bool split_sequence = false;  ///< SEQ, sequence parallelism
  double tokens = 0;            ///< m, of a micro-batch
  double activation = 0;        ///< E, elements between blocks
  double activation_shard =
      0;  ///< Es, E over the tensor-parallel group; 0 where not divided
};

/// Divides the model; PPINT_TOO_BIG to HEADS_DIV_TP. The execution has passed
/// CheckExecution.
ErrorCode Divide(const Application& application, const Execution& execution,
                 Geometry& geometry);

}  // namespace lmsimbench::calculon
