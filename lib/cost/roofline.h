#pragma once

#include "lmsimbench/cost_models.h"

namespace lmsimbench {

/// Seconds of an operator by the roofline; the accelerator states the figures
/// that it needs.
double RooflineSeconds(const RooflineParameters& parameters,
                       const Accelerator& accelerator, const Operator& op);

/// Peak of the matrix engine; of 4-bit formats, whose own no system states,
/// that of 8-bit ones.
double MatrixPeak(const Accelerator& accelerator, Precision precision);

/// Factor on the time of a matrix multiplication for its alignment.
double AlignmentFactor(const RooflineParameters& parameters,
                       const Operator& op);

/// True for the matrix multiplications of several experts at once.
bool IsGrouped(const Operator& op);

/// Rows of a grouped matrix multiplication as kernels cut them: every expert's
/// tokens in whole tiles.
double GroupedRows(const Operator& op);

/// Bytes that a grouped matrix multiplication moves beside those of a single
/// one of all rows: the weights of every expert but one, and of a gradient that
/// is added to what is there the rest of what the operator states.
double GroupedBytes(const Operator& op);

/// Share of its best that a matrix multiplication of this size reaches.
double MatrixSaturation(const RooflineParameters& parameters, double m,
                        double n, double k);

/// Bytes of the operands and the result of a matrix multiplication.
double MatrixBytes(Precision precision, double m, double n, double k);

/// Bytes of a number that is multiplied.
double ElementBytes(Precision precision);

}  // namespace lmsimbench
