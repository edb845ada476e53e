#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/system.h"

/// \file
/// Rows of the gemms, operators and collectives views as what a cost model is
/// asked: operators and spanned collectives.

namespace lmsimbench {

/// A measured time, of a row that may be used to fit, or to score only.
template <typename Question>
struct Measured {
  /// Index into `MeasuredKernels::platforms`.
  size_t platform = 0;
  Question question;
  double seconds = 0;
  bool is_fit = false;
  std::string source_id;
};

struct MeasuredKernels {
  std::vector<System> platforms;
  std::vector<Measured<Operator>> operators;
  std::vector<Measured<SpannedCollective>> collectives;
};

/// Reads what maps to an operator or a collective of the pipeline:
///
/// - matrix multiplications of the gemms view, in all layouts;
/// - of the operators view what `OperatorQuestion` says, but for what is timed
///   with what a framework does around it: linear layers, unfused products and
///   the norm before the output layer;
/// - collectives of a communication library (NCCL, RCCL, HCCL) within one node.
///   Between nodes the fabrics of the sources differ from what the platforms
///   state.
///
/// Rows of split `fit` and `test` only, and none that is flagged as doubtful. Refuses what `FindPlatform` refuses.
absl::StatusOr<MeasuredKernels> ReadMeasuredKernels(const Bundle& bundle);

}  // namespace lmsimbench
