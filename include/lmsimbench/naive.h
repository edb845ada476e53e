#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/simulator.h"
#include "lmsimbench/values.h"

namespace lmsimbench {

/// Yardsticks: what can be said of an iteration's time without simulating it.
enum class NaiveKind : uint8_t {
  /// The model's operations at a constant share of the devices' peak. Knows
  /// nothing of the configuration, so all of a setting take the same time.
  kUtilisation,
  /// The same, divided by the share of time in which a pipeline of p stages
  /// with v virtual stages each and m micro-batches is full: m v / (m v + p -
  /// 1).
  kBubble,
};
/// The names under which they are scored.
template <>
struct EnumNames<NaiveKind> {
  static constexpr const char* kNames[] = {"naive-utilisation", "naive-bubble"};
};

/// Makes a yardstick, fitted on the bundle's headline rows of the split `fit`:
/// of each platform the median of the shares that its rows imply. On a platform
/// without such a row it takes the median over all platforms together, and says
/// so in `adaptations`.
///
/// It answers the time only. It refuses, naming it, what lacks a figure: one
/// that the operations of the model need, the batch, the number format, the
/// peak of the accelerator, or the number of micro-batches of a pipeline.
/// FAILED_PRECONDITION if the bundle has no row to fit on.
absl::StatusOr<std::unique_ptr<Simulator>> MakeNaive(NaiveKind kind,
                                                     const Bundle& bundle);

}  // namespace lmsimbench
