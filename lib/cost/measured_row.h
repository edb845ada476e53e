#pragma once

#include "absl/status/statusor.h"
#include "lib/profile/view_row.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/system.h"

/// \file
/// One row of the gemms, operators or collectives view as what a cost model is
/// asked. A row that asks nothing is INVALID_ARGUMENT; the message, the same
/// for equal causes, says why.

namespace lmsimbench {

/// A matrix multiplication, in any layout; two transposed factors make it a
/// weight gradient.
absl::StatusOr<Operator> GemmQuestion(const ViewRow& row);

/// Fused attention (equal lengths of queries and keys, one head dimension) and
/// its unfused products, linear layers forward, norms, softmax, rotary
/// embedding, activations, residual additions, dropout, and embedding look-up.
/// What an elementwise kernel moves is counted as the pipeline counts it: each
/// tensor once, masks with a byte an element.
absl::StatusOr<Operator> OperatorQuestion(const ViewRow& row);

/// A collective of a group whose nodes hold equally many members. `platform` is
/// the row's: its network says at which level the nodes meet.
absl::StatusOr<SpannedCollective> CollectiveQuestion(const ViewRow& row,
                                                     const System& platform);

/// True if whoever wrote the row down doubts its figure.
bool IsFlagged(const ViewRow& row);

}  // namespace lmsimbench
