#pragma once

#include "lib/simulators/calculon/block_sums.h"
#include "lib/simulators/calculon/statistics.h"

namespace lmsimbench::calculon {

/// What an evaluation works in; reused from one to the next, one a thread.
/// After an evaluation it holds the block that was priced, for ReportLayers.
struct Workspace {
  Block block;
};

/// Evaluates the model: every statistic of one batch, without allocating.
///
/// Returns the first rule that is broken. `statistics` is complete for kNone,
/// kMem1 and kMem2 (a configuration that does not fit has been timed
/// nevertheless) and, but for the bandwidths that offloading requires, for
/// kDiv0ActOffloadBw and kDiv0OffloadBw; for every other code it is left as it
/// was.
///
/// The three inputs are as the readers (read.h) leave them: of a System made by
/// hand, networks are taken to keep the rules of the readers.
ErrorCode Evaluate(const Application& application, const System& system,
                   const Execution& execution, Workspace& workspace,
                   Statistics& statistics);

}  // namespace lmsimbench::calculon
