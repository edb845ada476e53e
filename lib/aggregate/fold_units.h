#pragma once

#include <cstdint>

#include "lib/aggregate/fold.h"

/// \file
/// Passes whose blocks gather their parameters: blocks in a row, and between
/// them what they wait for. Everything on the data stream is issued when a
/// block starts or ends and joined when the pass ends; and when a block starts,
/// nothing of the data stream runs that was issued before but the reduction of
/// the block before it. So beside a block, and behind it, there is a time that
/// depends on its neighbours alone.

namespace lmsimbench::aggregate {

/// The passes of a chunk in one direction, with what is communicated beside and
/// between their blocks. Appends to `Folds::stretches`.
FoldedPass FoldUnitPass(const CostedGraph& costed, Folds& folds, int32_t chunk,
                        Direction direction, int32_t variant);

/// As `FindBlock`, `LoneWithin`, of a pass with stretches.
BlockAt FindUnitBlock(const Folds& folds, const FoldedPass& pass,
                      Direction direction, int32_t variant, int32_t index);
double LoneWithinUnits(const Folds& folds, const FoldedPass& pass,
                       Direction direction, int32_t variant, double seconds);

/// Waiting for the data stream in the first `seconds` of a pass.
double WaitsWithin(const Folds& folds, const FoldedPass& pass,
                   Direction direction, int32_t variant, double seconds);

/// Whole weights and gradients that lie in memory while a repeated block runs.
int64_t HeldBytes(const Folds& folds, const FoldedPass& pass, int32_t index);

}  // namespace lmsimbench::aggregate
