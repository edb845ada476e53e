#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/external_simulator.h"

namespace lmsimbench {
namespace {

using Words = std::vector<std::string>;

Words Split(const std::string& line) {
  auto words = SplitCommand(line);
  REQUIRE(words.status() == absl::OkStatus());
  return *std::move(words);
}

// Expected words are those of `printf '[%s]\n' LINE` in dash.
TEST_CASE("a command is divided at blanks") {
  CHECK(Split("python3 mine.py") == Words{"python3", "mine.py"});
  CHECK(Split("  a \t b\n ") == Words{"a", "b"});
}

TEST_CASE("quotes and backslashes keep blanks together") {
  CHECK(Split("'a b' c") == Words{"a b", "c"});
  CHECK(Split("\"a b\"c d") == Words{"a bc", "d"});
  CHECK(Split("a\\ b c") == Words{"a b", "c"});
  CHECK(Split("'' \"\" x") == Words{"", "", "x"});
  CHECK(Split("'it'\\''s'") == Words{"it's"});
}

TEST_CASE("a backslash in double quotes escapes what a shell would expand") {
  CHECK(Split(R"("a\"b\\c\$d\`e")") == Words{"a\"b\\c$d`e"});
  CHECK(Split(R"("a\nb")") == Words{"a\\nb"});
  CHECK(Split(R"('a\"b')") == Words{"a\\\"b"});
}

TEST_CASE("no shell expands anything") {
  CHECK(Split("a $HOME *.c ~ | b > c; d") ==
        Words{"a", "$HOME", "*.c", "~", "|", "b", ">", "c;", "d"});
}

TEST_CASE("a command that does not end is refused") {
  for (const char* line : {"a 'b", "a \"b", "a \\", "", "  "}) {
    INFO(line);
    CHECK(absl::IsInvalidArgument(SplitCommand(line).status()));
  }
}

}  // namespace
}  // namespace lmsimbench
