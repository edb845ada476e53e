#include <algorithm>

#include "lib/core/rules.h"
#include "lmsimbench/layout.h"

namespace lmsimbench::legality {
namespace {

enum class Stated { kAlways, kMayBeMissing };

template <int64_t ParallelConfig::*Size, Stated stated>
bool IsSize(const Subject& s, std::string* why) {
  const int64_t size = s.config.*Size;
  if (stated == Stated::kMayBeMissing && !IsStated(size)) return true;
  if (size >= 1 && size <= kLargestSize) return true;
  return Broken(why, "a size of {}; sizes range from 1 to {}", size,
                kLargestSize);
}

bool StageSizes(const Subject& s, std::string* why) {
  // More stages than any machine has devices.
  constexpr size_t kMost = 1 << 20;
  const auto& list = s.config.stage_layers;
  if (list.size() > kMost) {
    return Broken(why, "a list of {} stages", list.size());
  }
  for (int64_t layers : list) {
    if (layers < 0 || layers > kLargestSize) {
      return Broken(why, "a stage of {} layers", layers);
    }
  }
  return true;
}

// Judged where the sizes are: their product may stand for the devices.
bool DeviceCount(const Subject& s, std::string* why) {
  for (int64_t size : {s.config.dp, s.config.tp, s.config.pp, s.config.cp}) {
    if (size < 1 || size > kLargestSize) return true;
  }
  if (s.devices >= 1 && s.devices <= kLargestSize) return true;
  return Broken(why, "{} devices; their number ranges from 1 to {}", s.devices,
                kLargestSize);
}

bool Product(const Subject& s, std::string* why) {
  const ParallelConfig& c = s.config;
  const int64_t product = SaturatingProduct(c.dp, c.tp, c.pp, c.cp);
  if (product == s.devices) return true;
  return Broken(why, "dp {} * tp {} * pp {} * cp {} = {}, not {} devices", c.dp,
                c.tp, c.pp, c.cp, product, s.devices);
}

bool GlobalBatch(const Subject& s, std::string* why) {
  const int64_t batch = s.workload.global_batch;
  const ParallelConfig& c = s.config;
  if (!Indivisible(batch, c.dp)) return true;
  return Broken(
      why,
      "{} devices, TP {}, PP {}, CP {}, global batch {}: DP = {} does "
      "not divide {}",
      s.devices, c.tp, c.pp, c.cp, batch, c.dp, batch);
}

bool MicroBatch(const Subject& s, std::string* why) {
  const int64_t batch = s.workload.global_batch;
  if (!IsStated(batch) || batch % s.config.dp != 0) return true;
  const int64_t local = batch / s.config.dp;
  if (!Indivisible(local, s.config.micro_batch)) return true;
  return Broken(why,
                "micro-batch {} does not divide the {} sequences of a replica "
                "(global batch {}, DP {})",
                s.config.micro_batch, local, batch, s.config.dp);
}

bool GradAccumulation(const Subject& s, std::string* why) {
  const int64_t stated = s.config.grad_accumulation;
  const int64_t batch = s.workload.global_batch;
  if (!IsStated(stated) || !IsStated(batch) || batch % s.config.dp != 0) {
    return true;
  }
  const int64_t local = batch / s.config.dp;
  if (!IsStated(s.config.micro_batch)) {
    if (local % stated == 0) return true;
    return Broken(why,
                  "{} micro-batches do not divide the {} sequences of a "
                  "replica",
                  stated, local);
  }
  if (SaturatingProduct(stated, s.config.micro_batch) == local) return true;
  return Broken(why,
                "{} micro-batches of {} are not the {} sequences of a replica "
                "(global batch {}, DP {})",
                stated, s.config.micro_batch, local, batch, s.config.dp);
}

constexpr auto kAlways = Stated::kAlways;
constexpr auto kMayBeMissing = Stated::kMayBeMissing;
using P = ParallelConfig;

constexpr Rule kSizeRules[] = {
    {"dp is a size", IsSize<&P::dp, kAlways>, {"dp"}},
    {"tp is a size", IsSize<&P::tp, kAlways>, {"tp"}},
    {"pp is a size", IsSize<&P::pp, kAlways>, {"pp"}},
    {"cp is a size", IsSize<&P::cp, kAlways>, {"cp"}},
    {"vpp is a size", IsSize<&P::vpp, kMayBeMissing>, {"vpp"}},
    {"ep is a size", IsSize<&P::ep, kMayBeMissing>, {"ep"}},
    {"etp is a size", IsSize<&P::etp, kMayBeMissing>, {"etp"}},
    {"micro-batch is a size",
     IsSize<&P::micro_batch, kMayBeMissing>,
     {"micro_batch"}},
    {"grad accumulation is a size",
     IsSize<&P::grad_accumulation, kMayBeMissing>,
     {"grad_accumulation"}},
    {"zero group is a size",
     IsSize<&P::zero_group, kMayBeMissing>,
     {"zero_group"}},
    {"context inner is a size",
     IsSize<&P::context_inner, kMayBeMissing>,
     {"context_inner"}},
    {"recompute layers is a size",
     IsSize<&P::recompute_layers, kMayBeMissing>,
     {"recompute_layers"}},
    {"stages hold no negative layers", StageSizes, {"stage_layers"}},
    {"devices are a size", DeviceCount, {}},
};

constexpr Rule kDivisionRules[] = {
    {"sizes multiply to the devices", Product, {"dp", "tp", "pp", "cp"}},
    {"dp divides the global batch",
     GlobalBatch,
     {"global_batch", "dp", "tp", "pp", "cp"}},
    {"micro-batch divides the batch of a replica",
     MicroBatch,
     {"micro_batch", "global_batch"}},
    {"grad accumulation fits the batch",
     GradAccumulation,
     {"grad_accumulation", "micro_batch", "global_batch"}},
};

}  // namespace

absl::Span<const Rule> SizeRules() { return kSizeRules; }
absl::Span<const Rule> DivisionRules() { return kDivisionRules; }

}  // namespace lmsimbench::legality
