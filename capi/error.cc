#include "capi/error.h"

#include <cstring>

#include "fmt/format.h"

namespace lmsimbench::capi {
namespace {

// A fixed text where the message itself could not be kept.
struct LastError {
  std::string message;
  const char* instead = nullptr;
};

LastError& TheLastError() {
  thread_local LastError error;
  return error;
}

constexpr const char* kCodeNames[] = {"OK",
                                      "CANCELLED",
                                      "UNKNOWN",
                                      "INVALID_ARGUMENT",
                                      "DEADLINE_EXCEEDED",
                                      "NOT_FOUND",
                                      "ALREADY_EXISTS",
                                      "PERMISSION_DENIED",
                                      "RESOURCE_EXHAUSTED",
                                      "FAILED_PRECONDITION",
                                      "ABORTED",
                                      "OUT_OF_RANGE",
                                      "UNIMPLEMENTED",
                                      "INTERNAL",
                                      "UNAVAILABLE",
                                      "DATA_LOSS",
                                      "UNAUTHENTICATED"};

bool IsCode(lmsb_code code) {
  return code >= 0 && code <= LMSB_UNAUTHENTICATED;
}

}  // namespace

void SetLastError(absl::string_view message) noexcept {
  LastError& error = TheLastError();
  try {
    error.message.assign(message.data(), message.size());
    error.instead = nullptr;
  } catch (...) {
    error.instead = "out of memory, also for the message";
  }
}

lmsb_code Report(const absl::Status& status) noexcept {
  if (status.ok()) return LMSB_OK;
  SetLastError(status.message());
  return static_cast<lmsb_code>(status.code());
}

absl::Status StatusOf(lmsb_code code, const std::string& message) {
  if (code == LMSB_OK) return absl::OkStatus();
  if (!IsCode(code)) {
    return absl::InternalError(
        fmt::format("{} (returned {}, which is no code)", message, code));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

}  // namespace lmsimbench::capi

using lmsimbench::capi::TheLastError;

const char* lmsb_last_error(void) {
  const auto& error = TheLastError();
  return error.instead != nullptr ? error.instead : error.message.c_str();
}

const char* lmsb_code_name(lmsb_code code) {
  return lmsimbench::capi::kCodeNames[lmsimbench::capi::IsCode(code)
                                          ? code
                                          : LMSB_UNKNOWN];
}

uint32_t lmsb_abi_version(void) { return LMSB_ABI_VERSION; }
