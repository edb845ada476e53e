#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// What a measured peak memory is.
enum class MemoryScope : uint8_t {
  kNotStated,
  kAllocated,  ///< allocated by the framework's allocator
  kReserved,   ///< reserved by the framework's allocator
  kProcess,    ///< of the whole process
};
template <>
struct EnumNames<MemoryScope> {
  static constexpr const char* kNames[] = {"not stated", "allocated",
                                           "reserved", "process"};
};

/// One row of the iterations view, or of the failed configurations, as core
/// types: what ran, how it was divided, what was measured.
struct MeasuredRun {
  std::string record_id;
  /// Rows with one workload id form a setting.
  std::string workload_id;
  std::string source;
  /// Identifier of the platform, and the source's own words for it.
  std::string platform;
  std::string platform_as_stated;
  std::string framework;
  /// "fit", "test", or a user's own.
  std::string split;
  std::string grade;
  std::string flag;
  /// What was computed from what, and what was assumed.
  std::string derived;
  std::string notes;
  int64_t devices = kNoCount;
  int64_t devices_per_node = kNoCount;
  Workload workload;
  ParallelConfig config;
  /// False for a configuration of a sweep that did not run.
  bool ran = true;
  /// In seconds; missing if the source does not print it.
  double iteration_time_s = kNoNumber;
  /// Tokens that one device trains on in a second.
  double tokens_per_s_per_device = kNoNumber;
  /// Operations of the model (as the source counts them) in a second of one
  /// device, and their share of the device's peak, from 0 to 1.
  double model_flops_per_device = kNoNumber;
  double model_flops_utilisation = kNoNumber;
  /// In bytes; missing if the source does not print it.
  double peak_memory_bytes = kNoNumber;
  MemoryScope memory_scope = MemoryScope::kNotStated;
  /// The peak was read on rank 0 alone, which need not hold the most.
  bool memory_of_first_rank = false;
  /// What tells two configurations of a setting apart: its sizes, ZeRO stage,
  /// recomputation and options as the table's own text, so that an empty field
  /// is a value of its own. Without the number of micro-batches, which follows
  /// from the rest and which sources print for some rows only; so a failed run
  /// has the key of the measured one of the same configuration.
  std::string configuration_key;
  /// What a failed run's source says of it.
  std::string outcome;
  /// Failed runs only: true unless the outcome names lack of memory, and it
  /// alone.
  bool failure_cause_unknown = false;
};

/// Every row of `iterations`, in the order of the table. INVALID_ARGUMENT names
/// the row and the cell that has no meaning.
absl::StatusOr<std::vector<MeasuredRun>> ReadRuns(const Bundle& bundle);

/// Every row of `failed_configurations`, in the order of the table. The
/// framework, the devices of a node, tied embeddings and the format of gradients
/// are those of the measured runs of the same source and model.
absl::StatusOr<std::vector<MeasuredRun>> ReadFailedRuns(const Bundle& bundle);

}  // namespace lmsimbench
