#include "lib/profile/spdx.h"

#include "catch2/catch.hpp"

namespace lmsimbench {
namespace {

TEST_CASE("SPDX expressions are licences") {
  for (const char* expression :
       {"MIT", "Apache-2.0", "MulanPSL-2.0", "LicenseRef-published-figures",
        "BSD-3-Clause AND Apache-2.0", "(MIT OR Apache-2.0) AND CC0-1.0",
        "GPL-2.0-only WITH Classpath-exception-2.0", "EPL-2.0+"}) {
    INFO(expression);
    CHECK(CheckLicence(expression).ok());
  }
}

TEST_CASE("what is no SPDX expression is refused by its part") {
  const auto complaint = [](const char* expression) {
    return std::string(CheckLicence(expression).message());
  };
  CHECK(complaint("Apache 2.0").find("\"Apache\"") == 0);
  CHECK(complaint("Apache-2") ==
        "\"Apache-2\" is no SPDX licence (nearest: Apache-2.0); what has none "
        "is written LicenseRef-NAME");
  CHECK(complaint("MIT AND") ==
        "the licence expression \"MIT AND\" is incomplete");
  CHECK(complaint("(MIT") == "the licence expression \"(MIT\" is incomplete");
  CHECK(complaint("MIT MIT") ==
        "\"MIT\" is misplaced in the licence expression \"MIT MIT\"");
  CHECK(complaint("OR MIT").find("\"OR\" is misplaced") == 0);
  CHECK(complaint("MIT)").find("\")\" is misplaced") == 0);
  CHECK(
      complaint("MIT WITH MIT").find("\"MIT\" is no SPDX licence exception") ==
      0);
  CHECK_FALSE(CheckLicence("").ok());
  CHECK_FALSE(CheckLicence("LicenseRef-").ok());
  CHECK_FALSE(CheckLicence("LicenseRef-a_b").ok());
}

}  // namespace
}  // namespace lmsimbench
