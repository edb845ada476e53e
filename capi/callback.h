#pragma once

#include <string>

#include "absl/status/status.h"
#include "capi/error.h"
#include "capi/handle.h"
#include "lmsimbench/c.h"

/// \file
/// Calls into functions of the caller's.

/// Where a callback puts the text of its error.
struct lmsb_error : lmsimbench::capi::Handle<lmsimbench::capi::Kind::kError> {
  std::string text;
  /// False if the caller's text was not UTF-8, and `text` is the note on it.
  bool is_utf8 = true;
};

namespace lmsimbench::capi {

/// The status of what a callback returned, with the text that it set;
/// `function` names it.
absl::Status CallbackStatus(lmsb_code code, const lmsb_error& error,
                            const char* function);
/// The status of a callback that threw: called where it is caught.
absl::Status ThrownStatus(const char* function);

/// Calls back and turns what comes of it, an exception too, into a status.
template <typename Function>
absl::Status CallBack(const char* name, Function&& function) {
  lmsb_error error;
  lmsb_code code = LMSB_OK;
  try {
    code = function(&error);
  } catch (...) {
    return ThrownStatus(name);
  }
  if (code == LMSB_OK) return absl::OkStatus();
  return CallbackStatus(code, error, name);
}

/// Calls a `destroy`, whose exceptions have nowhere to go.
template <typename Function>
void CallQuietly(Function&& function) noexcept {
  try {
    function();
  } catch (...) {
    SetLastError("destroy threw an exception");
  }
}

/// OK for the name of a plug-in: text, and not empty.
absl::Status CheckName(const char* name);

}  // namespace lmsimbench::capi
