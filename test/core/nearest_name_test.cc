#include "lmsimbench/nearest_name.h"

#include <catch2/catch.hpp>

namespace lmsimbench {
namespace {

TEST_CASE("the nearest name is the one with the fewest edits, case aside") {
  CHECK(NearestName("lama-3-8b", {"gpt-3", "llama-3-8b", "llama-3-70b"}) ==
        "llama-3-8b");
  CHECK(NearestName("LLAMA-3-8B", {"llama-2-8b", "Llama-3-8b"}) ==
        "Llama-3-8b");
}

TEST_CASE("of equally near names the first is taken") {
  CHECK(NearestName("zb-h3", {"zb-h1", "zb-h2"}) == "zb-h1");
}

TEST_CASE("the beginning of a name finds the shortest that continues it") {
  CHECK(NearestName("h100", {"a100-sxm4-80g", "h100-sxm5-80g", "h100-pcie"}) ==
        "h100-pcie");
}

TEST_CASE("where nothing is near, nothing is suggested") {
  CHECK(NearestName("transformer", {"gpt-3", "llama"}) == "");
  CHECK(NearestName("ab", {"xy"}) == "");
  CHECK(NearestName("", {"a"}) == "");
  CHECK(NearestName("a", {}) == "");
  CHECK(NearestName(std::string(100'000, 'a'), {"a"}) == "");
}

}  // namespace
}  // namespace lmsimbench
