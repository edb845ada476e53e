#include "capi/callback.h"

#include <exception>

#include "fmt/format.h"

namespace lmsimbench::capi {

absl::Status CallbackStatus(lmsb_code code, const lmsb_error& error,
                            const char* function) {
  if (error.text.empty()) {
    return StatusOf(code, fmt::format("{} returned {} without a text", function,
                                      lmsb_code_name(code)));
  }
  return StatusOf(code, error.text);
}

absl::Status ThrownStatus(const char* function) {
  try {
    throw;
  } catch (const std::exception& exception) {
    return absl::InternalError(
        fmt::format("{} threw an exception: {}", function, exception.what()));
  } catch (...) {
    return absl::InternalError(fmt::format("{} threw an exception", function));
  }
}

absl::Status CheckName(const char* name) {
  absl::Status status = CheckPointer(name, "name");
  if (!status.ok()) return status;
  absl::string_view text;
  status = ReadText(name, "name", text);
  if (status.ok() && text.empty()) {
    return absl::InvalidArgumentError("name is empty");
  }
  return status;
}

}  // namespace lmsimbench::capi

void lmsb_error_set(lmsb_error* error, const char* text, size_t text_length) {
  namespace capi = lmsimbench::capi;
  if (!capi::IsHandle(error)) return;
  capi::CallQuietly([&] {
    absl::string_view view;
    const absl::Status status =
        capi::ReadText(text, text_length, "the text of the error", view);
    error->text = std::string(status.ok() ? view : status.message());
    error->is_utf8 = status.ok();
  });
}
