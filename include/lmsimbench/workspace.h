#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace lmsimbench {

/// Memory that repeated predictions reuse. One a thread; any simulator may be
/// called with it, and finds what it kept there at its last call. Keeps no
/// results: an answer never depends on what a workspace has seen.
class Workspace {
 public:
  Workspace() = default;
  Workspace(Workspace&&) = default;
  Workspace& operator=(Workspace&&) = default;

  /// The state of type `State` kept here, default-constructed at the first
  /// call.
  template <typename State>
  State& Get() {
    for (auto& slot : slots_) {
      if (slot.first == &kTag<State>)
        return static_cast<Holder<State>*>(slot.second.get())->state;
    }
    auto holder = std::make_unique<Holder<State>>();
    State& state = holder->state;
    slots_.emplace_back(&kTag<State>, std::move(holder));
    return state;
  }

 private:
  struct HolderBase {
    virtual ~HolderBase() = default;
  };
  template <typename State>
  struct Holder : HolderBase {
    State state;
  };
  // Its address identifies the type.
  template <typename State>
  static inline char kTag = 0;

  std::vector<std::pair<const void*, std::unique_ptr<HolderBase>>> slots_;
};

}  // namespace lmsimbench
