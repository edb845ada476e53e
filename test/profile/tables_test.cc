#include <filesystem>
#include <map>

#include "catch2/catch.hpp"
#include "lib/profile/view_row.h"
#include "lmsimbench/bundle.h"
#include "nlohmann/json.hpp"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

using Json = nlohmann::json;

const Bundle& Embedded() {
  static const Bundle bundle = [] {
    auto opened = Bundle::Embedded();
    REQUIRE(opened.ok());
    return *opened;
  }();
  return bundle;
}

TEST_CASE("the notices name every source with its licence") {
  const std::string notice =
      ReadFile(std::string(LMSIMBENCH_MEASUREMENTS_DIR) + "/NOTICE");
  const ProfileView& sources = Embedded().ViewOrEmpty("sources");
  for (size_t i = 0; i < sources.rows(); ++i) {
    const ViewRow row(sources, i);
    const std::string entry = "\n" + row.Text("source_id") + "\n  " +
                              row.Text("title") + "\n  " + row.Text("where") +
                              "\n  " + row.Text("commit_or_date") + "\n  " +
                              row.Text("license") + "\n";
    INFO(entry);
    CHECK(notice.find(entry) != std::string::npos);
  }
}

TEST_CASE("the notices of the golden files name every folder") {
  const std::string notice = ReadFile(GoldenPath("NOTICE"));
  for (const auto& entry :
       std::filesystem::directory_iterator(LMSIMBENCH_GOLDEN_DIR)) {
    if (!entry.is_directory()) continue;
    INFO(entry.path());
    CHECK(notice.find("\n" + entry.path().filename().string() + "\n") !=
          std::string::npos);
  }
}

TEST_CASE("the table of models says what it was derived from") {
  const Json document =
      Json::parse(ReadFile(GoldenPath("profile/models.json")));
  const Json& settings = document.at("settings");
  const ProfileView& models = Embedded().ViewOrEmpty("models");
  REQUIRE(models.rows() == settings.size());
  const std::map<std::string, std::string> counts = {
      {"num_layers", "layers"},
      {"hidden", "hidden"},
      {"num_attention_heads", "heads"},
      {"num_kv_heads", "kv_heads"},
      {"head_dim", "head_dim"},
      {"ffn_hidden", "ffn"},
      {"gated_mlp", "gated_mlp"},
      {"vocab", "vocab"},
      {"tied_embeddings", "tied_embeddings"},
      {"qkv_bias", "qkv_bias"},
      {"num_experts", "experts"},
      {"moe_top_k", "top_k"},
      {"moe_ffn_hidden", "expert_ffn"},
      {"shared_experts", "shared_experts"},
      {"params_matrices_only", "params_matrices_only"},
      {"active_params_matrices_only", "active_params_matrices_only"}};
  for (size_t i = 0; i < models.rows(); ++i) {
    const ViewRow row(models, i);
    const Json& setting = settings[i];
    INFO(row.Text("name"));
    CHECK(row.Text("name") == setting.at("setting"));
    CHECK(row.Text("status") == setting.at("status"));
    CHECK(row.Text("model") == setting.at("model"));
    CHECK(row.Text("activation") == setting.at("activation"));
    CHECK(row.Text("notes") == setting.at("notes"));
    for (const auto& [key, column] : counts) {
      INFO(key);
      const Json value = setting.value(key, Json());
      const int64_t expected = value.is_null() ? kNoCount
                               : value.is_boolean()
                                   ? static_cast<int64_t>(value.get<bool>())
                                   : value.get<int64_t>();
      CHECK(row.Count(column) == expected);
    }
    for (const Json& source : setting.at("sources")) {
      CHECK(row.Text("sources").find(source.get<std::string>()) !=
            std::string::npos);
    }
  }
}

}  // namespace
}  // namespace lmsimbench
