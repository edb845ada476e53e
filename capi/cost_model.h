#pragma once

#include <memory>

#include "absl/types/span.h"
#include "capi/handle.h"
#include "lmsimbench/cost_model.h"

struct lmsb_cost_model
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kCostModel> {
  lmsb_cost_model(std::shared_ptr<const lmsimbench::CostModel> of,
                  bool may_share)
      : model(std::move(of)), thread_safe(may_share) {}

  std::shared_ptr<const lmsimbench::CostModel> model;
  /// May be asked by several threads at once.
  bool thread_safe;
};

namespace lmsimbench::capi {

/// OK if the struct is long enough, has a name and at least one function.
absl::Status CheckFunctions(const lmsb_cost_model_functions* functions);

/// A cost model of callbacks. `destroy` is called with it, if it is wanted;
/// the library that holds the functions stays loaded until then.
std::shared_ptr<const CostModel> WrapCostModel(
    const lmsb_cost_model_functions& functions, bool calls_destroy,
    std::shared_ptr<void> library = nullptr);

/// \{ Columns over operators and collectives where they lie.
lmsb_operator_batch BatchOf(absl::Span<const Operator> operators);
lmsb_collective_batch BatchOf(absl::Span<const SpannedCollective> collectives);
/// \}

}  // namespace lmsimbench::capi
