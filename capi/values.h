#pragma once

#include <optional>
#include <string>
#include <utility>

#include "capi/handle.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

/// \file
/// Handles of the library's values: of one that they own, or of one that
/// somebody else keeps, as the arguments of callbacks are.

namespace lmsimbench::capi {

template <Kind K, typename T>
struct ValueHandle : Handle<K> {
  /// A value of its own.
  explicit ValueHandle(T of) : owned(std::move(of)), value(&*owned) {}
  /// Somebody else's, to be read.
  explicit ValueHandle(const T* of) : value(of) {}
  /// Somebody else's, to be read and changed.
  explicit ValueHandle(T* of) : value(of), borrowed(of) {}

  ValueHandle(const ValueHandle&) = delete;
  ValueHandle& operator=(const ValueHandle&) = delete;

  /// The value to be changed; null for one that may only be read.
  T* changeable() { return owned.has_value() ? &*owned : borrowed; }

  std::optional<T> owned;
  const T* value;
  T* borrowed = nullptr;
};

}  // namespace lmsimbench::capi

struct lmsb_workload
    : lmsimbench::capi::ValueHandle<lmsimbench::capi::Kind::kWorkload,
                                    lmsimbench::Workload> {
  using ValueHandle::ValueHandle;
};
struct lmsb_system
    : lmsimbench::capi::ValueHandle<lmsimbench::capi::Kind::kSystem,
                                    lmsimbench::System> {
  using ValueHandle::ValueHandle;
};
struct lmsb_config
    : lmsimbench::capi::ValueHandle<lmsimbench::capi::Kind::kConfig,
                                    lmsimbench::ParallelConfig> {
  using ValueHandle::ValueHandle;
};
struct lmsb_prediction
    : lmsimbench::capi::ValueHandle<lmsimbench::capi::Kind::kPrediction,
                                    lmsimbench::Prediction> {
  using ValueHandle::ValueHandle;
  /// Why the latest setting of a field was refused; empty if none was. The
  /// check of simulators tells it.
  std::string refused;
};
