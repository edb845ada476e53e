#include "capi/fields.h"

#include "fmt/ranges.h"

namespace lmsimbench::capi {

PathStep FirstStep(absl::string_view path) {
  const size_t end = std::min(path.find_first_of(".["), path.size());
  return {path.substr(0, end), path.substr(end)};
}

absl::Status ReadIndex(absl::string_view field, size_t size,
                       absl::string_view& rest, size_t& index) {
  index = 0;
  size_t at = 1;
  for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at) {
    // Far above any list; the digits that follow change nothing.
    if (index < size) index = index * 10 + static_cast<size_t>(rest[at] - '0');
  }
  if (at == 1 || at == rest.size() || rest[at] != ']') {
    return absl::InvalidArgumentError(
        fmt::format("field '{}': expected a whole number in brackets at '{}'",
                    std::string(field), std::string(rest)));
  }
  if (index >= size) {
    return absl::NotFoundError(fmt::format(
        "field '{}': the list has {} entries", std::string(field), size));
  }
  rest = rest.substr(at + 1);
  return absl::OkStatus();
}

absl::Status NoParts(absl::string_view field, absl::string_view rest) {
  return absl::NotFoundError(fmt::format("field '{}': there is no '{}' here",
                                         std::string(field),
                                         std::string(rest)));
}

absl::Status NoField(absl::string_view field, absl::string_view name,
                     const std::vector<std::string>& known) {
  const std::string near = DidYouMean(name, known);
  return absl::NotFoundError(
      near.empty() ? fmt::format("no field '{}'; there are {}",
                                 std::string(field), fmt::join(known, ", "))
                   : fmt::format("no field '{}'{}", std::string(field), near));
}

absl::Status WrongType(absl::string_view field, const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("field '{}' is not {}", std::string(field), what));
}

}  // namespace lmsimbench::capi
