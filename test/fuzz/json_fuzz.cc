// The JSON of every core value, and of the answers of plug-ins: what is read
// without an error is written and read again as the same value.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "lmsimbench/json.h"

namespace lmsimbench {
namespace {

template <typename T>
void ReadAndWrite(absl::string_view text) {
  const absl::StatusOr<T> value = FromJson<T>(text);
  if (!value.ok()) return;
  const absl::StatusOr<T> again = FromJson<T>(ToJson(*value));
  if (!again.ok() || !SameFields(*again, *value)) std::abort();
}

}  // namespace
}  // namespace lmsimbench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  lmsimbench::ReadAndWrite<lmsimbench::ModelSpec>(text);
  lmsimbench::ReadAndWrite<lmsimbench::Workload>(text);
  lmsimbench::ReadAndWrite<lmsimbench::System>(text);
  lmsimbench::ReadAndWrite<lmsimbench::ParallelConfig>(text);
  lmsimbench::ReadAndWrite<lmsimbench::Prediction>(text);
  return 0;
}
