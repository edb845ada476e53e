#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "capi/table.h"
#include "lmsimbench/bundle.h"

struct lmsb_bundle : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kBundle> {
  explicit lmsb_bundle(lmsimbench::Bundle of);

  lmsimbench::Bundle bundle;
  /// Reads every byte, so it waits until somebody asks.
  mutable std::once_flag fingerprint_once;
  mutable std::string fingerprint;
  std::deque<lmsb_view> views;
};
