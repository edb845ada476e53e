#include "lib/simulators/vtrain/error.h"

namespace lmsimbench::vtrain {

const char* ErrorName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNone:
      return "";
    case ErrorKind::kAssertion:
      return "AssertionError";
    case ErrorKind::kType:
      return "TypeError";
    case ErrorKind::kZeroDivision:
      return "ZeroDivisionError";
    case ErrorKind::kFileNotFound:
      return "FileNotFoundError";
    case ErrorKind::kIndex:
      return "IndexError";
    case ErrorKind::kKey:
      return "KeyError";
    case ErrorKind::kValue:
      return "ValueError";
    case ErrorKind::kNotAnswered:
      return "";
  }
  return "";
}

absl::Status ToStatus(const Error& error) {
  if (error.ok()) return absl::OkStatus();
  if (error.kind == ErrorKind::kFileNotFound ||
      error.kind == ErrorKind::kNotAnswered) {
    return absl::UnimplementedError(error.message);
  }
  return absl::InvalidArgumentError(error.message);
}

}  // namespace lmsimbench::vtrain
