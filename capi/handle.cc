#include "capi/handle.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "fmt/format.h"
#include "lib/profile/utf8.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench::capi {
namespace {

// Far above anything real; what is larger is a slip, such as -1.
constexpr size_t kMostBytes = size_t{1} << 30;
constexpr size_t kMostEntries = size_t{1} << 28;

absl::Status CheckUtf8(absl::string_view text, const char* name) {
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} is not UTF-8", name));
}

}  // namespace

absl::Status CheckSize(size_t struct_size, size_t first_version,
                       const char* name) {
  if (struct_size >= first_version) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} has a struct_size of {}; its first version has {}", name,
                  struct_size, first_version));
}

absl::Status CheckCount(size_t count, const char* name) {
  if (count <= kMostEntries) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{} says {} entries; at most {} are taken", name, count, kMostEntries));
}

absl::Status ReadText(const char* text, size_t length, const char* name,
                      absl::string_view& out) {
  out = absl::string_view();
  if (text == nullptr && length > 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} is NULL and has a length of {}", name, length));
  }
  if (length > kMostBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} has a length of {}; at most {} is taken", name, length,
                    kMostBytes));
  }
  if (length == 0) return absl::OkStatus();
  out = absl::string_view(text, length);
  return CheckUtf8(out, name);
}

absl::Status ReadText(const char* text, const char* name,
                      absl::string_view& out) {
  out = text == nullptr ? absl::string_view()
                        : absl::string_view(text, std::strlen(text));
  return CheckUtf8(out, name);
}

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& known) {
  const std::string near = NearestName(name, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

void FaultyFree(const char* function) {
  std::fprintf(stderr,
               "%s: the handle has been freed before, or is of another kind\n",
               function);
  std::abort();
}

void Quarantine(void* memory) {
  constexpr size_t kKept = 4096;
  static std::mutex mutex;
  // Never destroyed: handles may be freed while the program ends.
  static auto* const kept = new std::deque<void*>();
  const std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(memory);
  if (kept->size() > kKept) {
    ::operator delete(kept->front());
    kept->pop_front();
  }
}

}  // namespace lmsimbench::capi
