#pragma once

#include <string>

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// Calculon's own description of a system, from systems.json beside this file
/// ("a100_80g", "h100_80g_nvl8"); the name must be one of these.
System KnownSystem(const std::string& name);

}  // namespace lmsimbench::calculon
