#include "lib/simulators/naive/time_at_peak.h"

#include <string>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lmsimbench/counts.h"

namespace lmsimbench::naive {
namespace {

/// Micro-batches of one replica in one iteration; NaN if not known.
double MicroBatches(const Workload& workload, const ParallelConfig& config) {
  if (IsStated(config.grad_accumulation)) {
    return static_cast<double>(config.grad_accumulation);
  }
  if (!IsStated(config.micro_batch)) return kNoNumber;
  return static_cast<double>(workload.global_batch) /
         (static_cast<double>(config.dp) *
          static_cast<double>(config.micro_batch));
}

absl::Status NotStated(const std::string& what) {
  return absl::FailedPreconditionError(what + " is not stated");
}

}  // namespace

absl::StatusOr<double> PipelineEfficiency(const Workload& workload,
                                          const ParallelConfig& config) {
  if (config.pp <= 1) return 1;
  const double m = MicroBatches(workload, config);
  if (!IsStated(m)) return NotStated("the micro-batch size of a pipeline");
  if (m < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "a global batch of {} leaves no micro-batch of {} to each of {} "
        "replicas",
        workload.global_batch, config.micro_batch, config.dp));
  }
  const double v = IsStated(config.vpp) ? static_cast<double>(config.vpp) : 1;
  const double bubble = static_cast<double>(config.pp) - 1;
  return m * v / (m * v + bubble);
}

absl::StatusOr<double> TimeAtPeak(NaiveKind kind, const Workload& workload,
                                  const System& system,
                                  const ParallelConfig& config) {
  if (!IsStated(workload.seq_len)) return NotStated("the sequence length");
  if (!IsStated(workload.global_batch)) return NotStated("the global batch");
  const absl::StatusOr<FlopCount> flops = CountFlopsPerToken(workload);
  if (!flops.ok()) return flops.status();
  if (workload.precision == Precision::kNotStated) {
    return NotStated("the number format of the matrix multiplications");
  }
  const double peak = PeakFlops(system.accelerator, workload.precision);
  if (!IsStated(peak) || peak <= 0) {
    return NotStated(fmt::format("the {} peak of {}",
                                 std::string(Name(workload.precision)),
                                 system.name));
  }
  const int64_t devices =
      IsStated(system.devices) ? system.devices : Devices(config);
  const double tokens = static_cast<double>(workload.seq_len) *
                        static_cast<double>(workload.global_batch);
  const double seconds =
      flops->total * tokens / (peak * static_cast<double>(devices));
  if (kind == NaiveKind::kUtilisation) return seconds;
  const absl::StatusOr<double> efficiency =
      PipelineEfficiency(workload, config);
  if (!efficiency.ok()) return efficiency.status();
  return seconds / *efficiency;
}

}  // namespace lmsimbench::naive
