#pragma once

#include <nlohmann/json.hpp>

#include "lib/simulators/vtrain/config.h"

namespace lmsimbench::vtrain {

/// Reads a configuration file of vTrain: one JSON object with its field names.
/// A field that is null is missing. An unknown field, or one that is of the
/// wrong type or missing although it needs a value, is a TypeError naming it.
Error ReadConfig(const nlohmann::ordered_json& document, Config& config);

}  // namespace lmsimbench::vtrain
