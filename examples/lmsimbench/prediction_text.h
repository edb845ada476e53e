#pragma once

#include <string>

#include "lmsimbench/prediction.h"

/// Time and memory with their parts, the verdict with its margin, and what was
/// adapted, as lines for people.
std::string PredictionText(const lmsimbench::Prediction& prediction);

/// What a prediction says beyond that: what it rests on, rank classes with
/// their times and memory, operators and collectives by category. Empty where
/// nothing of it is answered.
std::string PredictionDetails(const lmsimbench::Prediction& prediction);
