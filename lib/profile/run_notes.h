#pragma once

#include "absl/strings/string_view.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// \file
/// Facts of a run that stand in its notes alone, because the tables have no
/// column for them: whether embeddings are tied, in which format gradients are
/// accumulated, the widths of latent attention, shared experts and dense first
/// layers, the flags of a launch script. The notes write them in few fixed
/// phrases; anything else in them is prose.

/// Fills in what the columns leave open and the notes state.
void ReadNotes(absl::string_view notes, Workload& workload,
               ParallelConfig& config);

}  // namespace lmsimbench
