// The lines of other people's programs, and those of hosts.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lib/simulators/external/protocol.h"

namespace external = lmsimbench::external;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view line(reinterpret_cast<const char*>(data), size);
  const int64_t id = external::IdOf(line);
  // A line belongs to the question of its id, or to none.
  const auto answer = external::ParseAnswer(line, id);
  if (id >= 0 && absl::IsDataLoss(answer.status())) std::abort();
  if (answer.ok()) {
    const auto again =
        external::ParseAnswer(external::AnswerLine(id, *answer), id);
    if (!again.ok() || *again != *answer) std::abort();
  }
  const auto request = external::ParseRequest(line);
  if (request.ok()) {
    const auto again = external::ParseRequest(external::RequestLine(*request));
    if (!again.ok()) std::abort();
  }
  (void)external::ParseGreeting(line);
  return 0;
}
