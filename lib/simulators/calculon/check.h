#pragma once

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// The rules of an execution by itself, EXE_NUM_PROCS_POS to
/// EXE_OPTOFF_TRAINING.
ErrorCode CheckExecution(const Execution& execution);

/// The networks that the three kinds of parallelism use.
struct Placement {
  const Network* tensor = nullptr;
  const Network* pipeline = nullptr;
  const Network* data = nullptr;
};

/// Finds the networks and checks that they hold what is mapped to them:
/// NET_TP_ID to NET_NOT_FILLED. A negative index counts from the end of the
/// list and names the same tier as the positive one.
ErrorCode Place(const Execution& execution, const System& system,
                Placement& placement);

}  // namespace lmsimbench::calculon
