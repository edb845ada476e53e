#include "lib/core/json_document.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

// Far above any document of ours, far below what exhausts a stack.
constexpr size_t kDeepest = 64;

// Builds the document from parser events, so that a repeated key and too deep a
// nesting are seen, and a syntax error keeps its position: the parser's own
// document builder hides all three.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return Add(value);
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return Fail("binary data"); }

  bool start_object(size_t) override { return OpenContainer(Json::object()); }
  bool key(string_t& key) override {
    key_ = std::move(key);
    if (open_.back().keys.insert(key_).second) return true;
    return Fail(fmt::format("key '{}' stands twice in one object", key_));
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return OpenContainer(Json::array()); }
  bool end_array() override { return Close(); }

  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    const std::string text = error.what();
    const size_t end = text.find("] ");
    return Fail(end == std::string::npos ? text : text.substr(end + 2));
  }

  const std::string& error() const { return error_; }
  Json TakeRoot() { return std::move(root_); }

 private:
  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().container;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // The key is new: no need to search the members for it.
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(key_, std::move(value));
    return &members.back().second;
  }
  bool Add(Json value) {
    Place(std::move(value));
    return true;
  }
  bool OpenContainer(Json value) {
    if (open_.size() == kDeepest) {
      return Fail(fmt::format("nested more than {} deep", kDeepest));
    }
    open_.push_back({Place(std::move(value)), {}});
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  // A container that is not complete. The pointer stays valid: only the
  // innermost container grows.
  struct Open {
    Json* container;
    absl::flat_hash_set<std::string> keys;
  };

  Json root_;
  std::vector<Open> open_;
  std::string key_;
  std::string error_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text) {
  // The parser takes a NUL byte for the end of the text.
  const size_t nul = text.find('\0');
  if (nul != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        fmt::format("not valid JSON: NUL byte at offset {}", nul));
  }
  Builder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    return absl::InvalidArgumentError(
        fmt::format("not valid JSON: {}", builder.error()));
  }
  return builder.TakeRoot();
}

std::string DescribeJson(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr size_t kShown = 60;
  if (value.is_string() &&
      value.get_ref<const std::string&>().size() > kShown) {
    return "a long text";
  }
  const std::string text =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return value.is_string() ? "the text " + text : text;
}

}  // namespace lmsimbench
