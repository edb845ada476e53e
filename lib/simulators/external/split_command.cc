#include "absl/status/status.h"
#include "fmt/format.h"
#include "lmsimbench/external_simulator.h"

namespace lmsimbench {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Within double quotes a backslash is one, unless it stands before these.
bool IsEscapedInQuotes(char c) {
  return c == '"' || c == '\\' || c == '$' || c == '`' || c == '\n';
}

absl::Status Unfinished(absl::string_view what, absl::string_view line) {
  return absl::InvalidArgumentError(fmt::format(
      "{} in the command: {}", std::string(what), std::string(line)));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view line) {
  std::vector<std::string> words;
  std::string word;
  // A word may be empty, if it was quoted.
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool last = i + 1 == line.size();
    if (quote == '\'') {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\' && quote == 0) {
      if (last) return Unfinished("a backslash stands last", line);
      word += line[++i];
      in_word = true;
    } else if (quote == '"') {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && !last && IsEscapedInQuotes(line[i + 1])) {
        word += line[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (IsBlank(c)) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    return Unfinished(fmt::format("a {} quote does not end",
                                  quote == '"' ? "double" : "single"),
                      line);
  }
  if (in_word) words.push_back(word);
  if (words.empty()) {
    return absl::InvalidArgumentError("the command is empty");
  }
  return words;
}

}  // namespace lmsimbench
