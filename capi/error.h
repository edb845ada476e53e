#pragma once

#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/c.h"

/// \file
/// The edge that no exception crosses, and the message of a thread's latest
/// failure.

namespace lmsimbench::capi {

/// Keeps the message of a failure for `lmsb_last_error`. Never throws: where
/// memory is short, the message says so.
void SetLastError(absl::string_view message) noexcept;

/// The code of a status; keeps the message of a failure.
lmsb_code Report(const absl::Status& status) noexcept;

/// Runs the body of a function of the interface, which returns a status.
template <typename Body>
lmsb_code Guarded(Body&& body) noexcept {
  try {
    return Report(body());
  } catch (const std::bad_alloc&) {
    SetLastError("out of memory");
    return LMSB_RESOURCE_EXHAUSTED;
  } catch (...) {
    SetLastError("an exception inside the library");
    return LMSB_INTERNAL;
  }
}

/// The status of an error code from outside; a number that is no code is
/// INTERNAL and named.
absl::Status StatusOf(lmsb_code code, const std::string& message);

}  // namespace lmsimbench::capi
