#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace lmsimbench::vtrain {

/// How the original fails: the class of its exception.
enum class ErrorKind : uint8_t {
  kNone,
  kAssertion,     ///< a rule of the configuration is broken
  kType,          ///< an unknown field, or one that is missing or of no use
  kZeroDivision,  ///< a divisor is 0
  kFileNotFound,  ///< the device has no all-reduce tables
  kIndex,         ///< a rank has no work
  kKey,           ///< a kernel that nothing launched
  kValue,         ///< a figure that cannot be read
  kNotAnswered,   ///< a communication that the cost model does not answer
};

/// A failure in words; `kNone` where there is none.
struct Error {
  ErrorKind kind = ErrorKind::kNone;
  std::string message;

  bool ok() const { return kind == ErrorKind::kNone; }
};

/// Name of the exception: "AssertionError". Empty for `kNone`.
const char* ErrorName(ErrorKind kind);

/// The failure as the status of a simulator: what has no tables and what the
/// cost model does not answer is UNIMPLEMENTED, all else INVALID_ARGUMENT.
absl::Status ToStatus(const Error& error);

}  // namespace lmsimbench::vtrain
