#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/c.h"

/// \file
/// What all handles have in common: a mark of their kind in front, so that a
/// handle of another kind is refused and a freed one is noticed.

namespace lmsimbench::capi {

/// Marks of handles. Not small numbers, so that other memory is not taken for
/// one.
enum class Kind : uint32_t {
  kFreed = 0x6c6d7300,
  kText,
  kBundle,
  kView,
  kColumn,
  kTable,
  kWorkload,
  kSystem,
  kConfig,
  kPrediction,
  kError,
  kCostModel,
  kGraph,
  kTimeline,
  kSimulator,
  kWorkspace,
  kMeasurements,
  kAnswers,
  kScorecard,
};

/// Base of every handle.
template <Kind K>
struct Handle {
  static constexpr Kind kKind = K;
  Kind kind = K;
};

/// True if this is a live handle of its type.
template <typename T>
bool IsHandle(const T* handle) {
  return handle != nullptr && handle->kind == T::kKind;
}

/// OK if `handle` is a live handle of its type; `name` is the argument's.
template <typename T>
absl::Status CheckHandle(const T* handle, const char* name) {
  if (IsHandle(handle)) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) +
                                    (handle == nullptr ? " is NULL"
                                     : handle->kind == Kind::kFreed
                                         ? " has been freed"
                                         : " is a handle of another kind"));
}

/// OK if a pointer that is needed is there.
inline absl::Status CheckPointer(const void* pointer, const char* name) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(name) + " is NULL");
}

/// OK if a struct from outside is at least as long as its first version.
absl::Status CheckSize(size_t struct_size, size_t first_version,
                       const char* name);

/// OK for a number of entries that may be real.
absl::Status CheckCount(size_t count, const char* name);

/// Text from outside: pointer and length, UTF-8.
absl::Status ReadText(const char* text, size_t length, const char* name,
                      absl::string_view& out);

/// The same with a NUL behind it; NULL is the empty text.
absl::Status ReadText(const char* text, const char* name,
                      absl::string_view& out);

/// "; did you mean 'X'?", or nothing where no known name is near.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& known);

/// Ends the program, in debug builds, because of a handle that is freed twice
/// or that is none.
void FaultyFree(const char* function);

/// Keeps the memory of freed handles for a while, in debug builds, so that one
/// that is freed twice is noticed rather than undefined.
void Quarantine(void* memory);

/// Frees a handle; NULL is allowed.
template <typename T>
void Free(T* handle, const char* function) noexcept {
  if (handle == nullptr) return;
#ifdef NDEBUG
  if (handle->kind != T::kKind) return;
  handle->kind = Kind::kFreed;
  delete handle;
  (void)function;
#else
  if (handle->kind != T::kKind) {
    FaultyFree(function);
    return;
  }
  handle->~T();
  ::new (static_cast<void*>(handle)) Handle<Kind::kFreed>();
  Quarantine(handle);
#endif
}

}  // namespace lmsimbench::capi
