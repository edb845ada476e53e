#pragma once

#include <string>

#include "catch2/catch.hpp"
#include "lib/core/json_document.h"

namespace lmsimbench {

/// A document that has to be JSON.
inline nlohmann::ordered_json Parsed(const std::string& text) {
  const auto json = ParseJson(text);
  INFO(json.status());
  REQUIRE(json.ok());
  return *json;
}

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace lmsimbench
