#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// \file
/// What the texts of a run's cells mean. Every reader takes an empty cell for
/// 'not stated' and refuses what it does not know with INVALID_ARGUMENT and the
/// nearest known word.

absl::Status ReadPrecision(const std::string& text, Precision& precision);
absl::Status ReadAttention(const std::string& text, AttentionKind& attention);
absl::Status ReadNorm(const std::string& text, NormKind& norm);
absl::Status ReadPositions(const std::string& text, PositionKind& positions);
absl::Status ReadZeroStage(const std::string& text, ZeroStage& zero);

/// `none`, `selective`, `full`, `layers:N` or `op-level partial`.
absl::Status ReadRecompute(const std::string& text, ParallelConfig& config);

/// Layout facts as `key=value;key=value`. A key is the name of a field of
/// `ModelSpec`, `Workload` or `ParallelConfig` that has no column of its own,
/// or one of the sources' own words: `cp_algorithm`,
/// `moe_dense_first_layers`, `moe_dispatcher`, `moe_grouped_gemm`. Facts are
/// written True or False, lists with commas.
absl::Status ReadOptions(absl::string_view text, Workload& workload,
                         ParallelConfig& config);

/// What kind of peak a memory scope speaks of: one that names the process is of
/// the process, one that names reserved memory is reserved, one that names
/// allocated memory or torch's peak is allocated; otherwise it is not stated.
MemoryScope ReadMemoryScope(absl::string_view text);

/// The options without the number of micro-batches, which follows from the
/// batch sizes: what tells two configurations apart.
std::string OptionsWithoutAccumulation(absl::string_view options);

}  // namespace lmsimbench
