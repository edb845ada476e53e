#pragma once

#include <string>

#include "lib/simulators/calculon/inputs.h"
#include "lib/simulators/calculon/statistics.h"

namespace lmsimbench::calculon {

/// A number of bytes as the original prints it: three decimals and a unit of
/// 1024ths, "108.595 GiB". At most seven steps; what is larger still is given
/// in EiB.
std::string FormatBytes(double bytes);

/// Why an execution is refused by itself: name of the code, the numbers, the
/// rule.
std::string ExplainExecution(ErrorCode code, const Execution& execution);

/// Why Evaluate returned `code`, with the inputs and statistics it was given:
/// for MEM1 and MEM2 the sentence of the original, otherwise name of the code,
/// the numbers, the rule.
std::string Explain(ErrorCode code, const Application& application,
                    const System& system, const Execution& execution,
                    const Statistics& statistics);

}  // namespace lmsimbench::calculon
