#include "lib/simulators/vtrain/read_config.h"

#include <fmt/core.h>

#include <cmath>

namespace lmsimbench::vtrain {
namespace {

using Json = nlohmann::ordered_json;

bool Read(const Json& value, int64_t& field) {
  if (value.is_boolean()) {
    field = value.get<bool>() ? 1 : 0;
    return true;
  }
  if (!value.is_number()) return false;
  const auto number = value.get<double>();
  constexpr double kLargest = 9007199254740992.0;  // 2^53
  if (std::nearbyint(number) != number || std::fabs(number) > kLargest) {
    return false;
  }
  field = static_cast<int64_t>(number);
  return true;
}

bool Read(const Json& value, std::optional<int64_t>& field) {
  int64_t number = 0;
  field.reset();
  if (value.is_null()) return true;
  if (!Read(value, number)) return false;
  field = number;
  return true;
}

bool Read(const Json& value, double& field) {
  if (!value.is_number()) return false;
  field = value.get<double>();
  return std::isfinite(field);
}

bool Read(const Json& value, bool& field) {
  if (value.is_null()) {
    field = false;
  } else if (value.is_boolean()) {
    field = value.get<bool>();
  } else if (value.is_number()) {
    field = value.get<double>() != 0;
  } else {
    return false;
  }
  return true;
}

bool Read(const Json& value, std::string& field) {
  if (!value.is_string()) return false;
  field = value.get<std::string>();
  return true;
}

// Calls `visit` with every field and its name until it returns true.
template <typename Visit>
bool FindField(Config& c, Visit&& visit) {
  std::string ignored;
  return visit("num_gpus", c.num_gpus) ||
         visit("tensor_parallel_size", c.tensor_parallel) ||
         visit("data_parallel_size", c.data_parallel) ||
         visit("pipeline_parallel_size", c.pipeline_parallel) ||
         visit("gpu_name", c.gpu_name) ||
         visit("global_batch_size", c.global_batch) ||
         visit("micro_batch_size", c.micro_batch) ||
         visit("model_arch", c.model_arch) ||
         visit("num_layers", c.num_layers) || visit("hidden_size", c.hidden) ||
         visit("num_attention_heads", c.num_heads) ||
         visit("max_length", c.max_length) || visit("vocab_size", c.vocab) ||
         visit("use_gradient_bucket", c.use_gradient_bucket) ||
         visit("ddp_bucket_size", c.ddp_bucket_size) ||
         visit("use_checkpoint", c.use_checkpoint) ||
         visit("inter_node_bandwidth", c.inter_node_bandwidth) ||
         visit("intra_node_bandwidth", c.intra_node_bandwidth) ||
         visit("pipeline_scheduling", c.pipeline_scheduling) ||
         visit("node_size", c.node_size) || visit("trace_path", ignored);
}

}  // namespace

Error ReadConfig(const Json& document, Config& config) {
  config = Config();
  if (!document.is_object()) {
    return {ErrorKind::kType, "the configuration is no JSON object"};
  }
  // The original refuses an unknown field before it looks at any value.
  for (const auto& [name, value] : document.items()) {
    const std::string& key = name;
    if (!FindField(config,
                   [&key](const char* field, auto&) { return key == field; })) {
      return {ErrorKind::kType, fmt::format("unknown field '{}'", key)};
    }
  }
  for (const auto& [name, value] : document.items()) {
    const std::string& key = name;
    const Json& given = value;
    bool good = false;
    FindField(config, [&](const char* field, auto& member) {
      if (key != field) return false;
      good = Read(given, member);
      return true;
    });
    if (!good) {
      return {ErrorKind::kType,
              fmt::format("field '{}' cannot be {}", key, given.dump())};
    }
  }
  return {};
}

}  // namespace lmsimbench::vtrain
