#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "fmt/format.h"
#include "lib/core/arithmetic.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

/// \file
/// The rules of legality as tables: a name, a function that judges, and the
/// fields whose values could mend it.

namespace lmsimbench::legality {

/// Largest size, count or number of devices that is judged. Products of two
/// fit in 64 bits.
inline constexpr int64_t kLargestSize = 2147483647;

/// What is judged.
struct Subject {
  const Workload& workload;
  const ModelSpec& model;
  const ParallelConfig& config;
  /// As stated, else what the configuration takes.
  int64_t devices;
};

/// `devices` -1: as many as the configuration takes.
inline Subject MakeSubject(const Workload& workload,
                           const ParallelConfig& config, int64_t devices) {
  return {workload, workload.model, config,
          IsStated(devices)
              ? devices
              : SaturatingProduct(config.dp, config.tp, config.pp, config.cp)};
}

/// One rule.
struct Rule {
  /// Short and stable.
  const char* name;
  /// True if the rule holds or its figures are not stated. Else says why not,
  /// if asked.
  bool (*holds)(const Subject& subject, std::string* why);
  /// Fields whose values could mend it, the first preferred; null after the
  /// last.
  std::array<const char*, 6> fields;
};

/// \{ The tables, in the order in which they are judged. The others rely on
/// figures being in range, which the first two say.
absl::Span<const Rule> WorkloadRules();
absl::Span<const Rule> SizeRules();
absl::Span<const Rule> DivisionRules();
absl::Span<const Rule> TensorRules();
absl::Span<const Rule> ExpertRules();
absl::Span<const Rule> PipelineRules();
absl::Span<const Rule> StateRules();
/// \}

/// False, and the reason if it was asked for.
template <typename... Args>
bool Broken(std::string* why, fmt::format_string<Args...> format,
            Args&&... args) {
  if (why != nullptr) *why = fmt::format(format, std::forward<Args>(args)...);
  return false;
}

/// True if both figures are stated, the divisor is positive and does not
/// divide.
inline bool Indivisible(int64_t number, int64_t divisor) {
  return number >= 0 && divisor > 0 && number % divisor != 0;
}

}  // namespace lmsimbench::legality
