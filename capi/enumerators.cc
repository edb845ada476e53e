#include <array>
#include <utility>

#include "absl/strings/string_view.h"
#include "capi/handle.h"
#include "lmsimbench/c.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/prediction.h"

namespace capi = lmsimbench::capi;

namespace {

// The name of a number of one enumeration; NULL if it has none.
template <typename Enum>
const char* NameOf(int32_t value) {
  const auto& names = lmsimbench::EnumNames<Enum>::kNames;
  if (value < 0 || static_cast<size_t>(value) >= std::size(names)) {
    return nullptr;
  }
  return names[value];
}

using Names = const char* (*)(int32_t);

constexpr std::pair<absl::string_view, Names> kEnumerations[] = {
    {"operator", NameOf<lmsimbench::OperatorKind>},
    {"pass", NameOf<lmsimbench::OperatorPass>},
    {"computation", NameOf<lmsimbench::Computation>},
    {"precision", NameOf<lmsimbench::Precision>},
    {"collective", NameOf<lmsimbench::CollectiveKind>},
    {"group", NameOf<lmsimbench::Group>},
    {"evidence", NameOf<lmsimbench::Evidence>},
    {"verdict", NameOf<lmsimbench::Verdict>}};

}  // namespace

const char* lmsb_enumerator_name(const char* enumeration,
                                 size_t enumeration_length, int32_t value) {
  absl::string_view wanted;
  if (!capi::ReadText(enumeration, enumeration_length, "enumeration", wanted)
           .ok()) {
    return nullptr;
  }
  for (const auto& [name, names] : kEnumerations) {
    if (name == wanted) return names(value);
  }
  return nullptr;
}
