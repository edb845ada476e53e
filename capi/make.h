#pragma once

#include "absl/status/statusor.h"
#include "capi/error.h"
#include "capi/handle.h"

namespace lmsimbench::capi {

/// Makes a handle with `make`, which returns a pointer or a status, and hands
/// it out; `*out` is NULL after a failure.
template <typename T, typename MakeHandle>
lmsb_code Make(T** out, MakeHandle&& make) noexcept {
  return Guarded([&]() -> absl::Status {
    absl::Status status = CheckPointer(out, "out");
    if (!status.ok()) return status;
    *out = nullptr;
    absl::StatusOr<T*> made = make();
    if (!made.ok()) return made.status();
    *out = *made;
    return absl::OkStatus();
  });
}

/// The same from another handle, which is checked first and called `name` in
/// the message.
template <typename Of, typename T, typename MakeHandle>
lmsb_code MakeFrom(const Of* of, const char* name, T** out,
                   MakeHandle&& make) noexcept {
  return Make(out, [&]() -> absl::StatusOr<T*> {
    absl::Status status = CheckHandle(of, name);
    if (!status.ok()) return status;
    return make();
  });
}

}  // namespace lmsimbench::capi
