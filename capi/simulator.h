#pragma once

#include <memory>
#include <utility>

#include "capi/handle.h"
#include "lmsimbench/simulator.h"
#include "lmsimbench/workspace.h"

struct lmsb_simulator
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kSimulator> {
  lmsb_simulator(std::unique_ptr<const lmsimbench::Simulator> of,
                 bool may_share)
      : simulator(std::move(of)), thread_safe(may_share) {}

  std::unique_ptr<const lmsimbench::Simulator> simulator;
  /// May be asked by several threads at once.
  bool thread_safe;
};

struct lmsb_workspace
    : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kWorkspace> {
  lmsimbench::Workspace workspace;
};

namespace lmsimbench::capi {

/// OK if the struct is long enough, has a name and `predict`.
absl::Status CheckFunctions(const lmsb_simulator_functions* functions);

/// A simulator of callbacks. `destroy` is called with it, if it is wanted;
/// the library that holds the functions stays loaded until then.
std::unique_ptr<const Simulator> WrapSimulator(
    const lmsb_simulator_functions& functions, bool calls_destroy,
    std::shared_ptr<void> library = nullptr);

}  // namespace lmsimbench::capi
