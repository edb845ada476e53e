#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "catch2/catch.hpp"
#include "lib/simulators/external/protocol.h"

namespace lmsimbench::external {
namespace {

std::string Readme() {
  std::ifstream file(LINE_PROTOCOL_README);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Every key of a line, and every name that a key may have for a value.
struct Words {
  std::set<std::string> keys;
  std::set<std::string> names;

  template <typename T>
  void operator()(const char* key, const T& field) {
    keys.insert(key);
    Value(field);
  }
  template <typename T>
  void Value(const T& value) {
    if constexpr (std::is_same_v<T, OperatorKind>) {
      // Those of the staged pipeline, which `explain` names.
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, YesNo>) {
      // The first one says that nothing is stated.
      names.insert(std::begin(EnumNames<T>::kNames) + 1,
                   std::end(EnumNames<T>::kNames));
    } else if constexpr (std::is_class_v<T> &&
                         !std::is_same_v<T, std::string>) {
      T::VisitFields(*this, value);
    }
  }
  template <typename T>
  void Value(const std::vector<T>&) {
    Value(T());
  }
};

bool HasOneOf(const std::string& text, const std::string& a,
              const std::string& b) {
  return text.find(a) != std::string::npos || text.find(b) != std::string::npos;
}

TEST_CASE("the description of the protocol names every key and every value") {
  const std::string readme = Readme();
  REQUIRE_FALSE(readme.empty());
  Words words;
  words.Value(Greeting());
  words.Value(Request());
  words.Value(Prediction());
  CHECK(words.keys.size() > 100);
  for (const std::string& key : words.keys) {
    INFO("key " << key);
    CHECK(HasOneOf(readme, "`" + key + "`", "\"" + key + "\""));
  }
  for (const std::string& name : words.names) {
    INFO("value " << name);
    CHECK(HasOneOf(readme, "`" + name + "`", "\"" + name + "\""));
  }
}

}  // namespace
}  // namespace lmsimbench::external
