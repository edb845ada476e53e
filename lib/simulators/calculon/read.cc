#include "lib/simulators/calculon/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lib/simulators/calculon/check.h"
#include "lib/simulators/calculon/explain.h"

namespace lmsimbench::calculon {
namespace {

using Json = nlohmann::ordered_json;

ReadResult Fail(ErrorCode code, const std::string& place) {
  return {code,
          fmt::format("{}: {} ({})", ErrorName(code), place, ErrorRule(code))};
}

// Shortens what a message shows of a value.
std::string Shown(const Json& value) {
  constexpr size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

bool IsTrue(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

bool ToDouble(const Json& value, double& number) {
  if (value.is_boolean()) {
    number = value.get<bool>() ? 1 : 0;
  } else if (value.is_number()) {
    number = value.get<double>();
  } else {
    return false;
  }
  return true;
}

// A count: an integer, or a floating-point number or truth value that is one.
bool ToCount(const Json& value, int64_t& count) {
  constexpr double kLargest =
      9007199254740992;  // 2^53: every integer up to here is exact.
  double number = 0;
  if (!ToDouble(value, number) || std::floor(number) != number ||
      std::fabs(number) > kLargest) {
    return false;
  }
  count = static_cast<int64_t>(number);
  return true;
}

// The position of a string among `names`; their number for anything else.
template <size_t kCount>
size_t IndexOf(const Json& value,
               const std::array<std::string_view, kCount>& names) {
  if (!value.is_string()) return kCount;
  const auto* found = std::find(names.begin(), names.end(),
                                value.get_ref<const std::string&>());
  return static_cast<size_t>(found - names.begin());
}

constexpr std::array<std::string_view, kDatatypeCount> kDatatypes = {
    "float8", "float16", "bfloat16", "float32"};

// --- System ---

ReadResult ReadSteps(const Json& list, const std::string& place,
                     std::vector<EfficiencyStep>& steps) {
  if (!list.is_array())
    return Fail(ErrorCode::kValueType, place + " is no list");
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& entry = list[i];
    EfficiencyStep step;
    if (!entry.is_array() || entry.size() != 2 ||
        !ToDouble(entry[0], step.threshold) ||
        !ToDouble(entry[1], step.efficiency)) {
      return Fail(ErrorCode::kValueType,
                  fmt::format("{}[{}] = {} is no pair of numbers", place, i,
                              Shown(entry)));
    }
    steps.push_back(step);
  }
  return {};
}

// The number under `key` of `object`.
ReadResult ReadNumber(const Json& object, const std::string& place,
                      const char* key, double& number) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return Fail(ErrorCode::kSysMissingKey,
                fmt::format("{} has no '{}'", place, key));
  }
  if (!ToDouble(*found, number)) {
    return Fail(ErrorCode::kValueType, fmt::format("{}.{} = {} is no number",
                                                   place, key, Shown(*found)));
  }
  return {};
}

ReadResult ReadEngine(const Json& object, const std::string& place,
                      Engine& engine) {
  for (const auto& [datatype, description] : object.items()) {
    const std::string here = fmt::format("{}.{}", place, datatype);
    if (!description.is_object())
      return Fail(ErrorCode::kValueType, here + " is no object");
    double tflops = 0;
    if (ReadResult result = ReadNumber(description, here, "tflops", tflops);
        !result.ok()) {
      return result;
    }
    const auto list = description.find("gflops_efficiency");
    if (list == description.end()) {
      return Fail(ErrorCode::kSysMissingKey,
                  here + " has no 'gflops_efficiency'");
    }
    const std::string list_place = here + ".gflops_efficiency";
    std::vector<EfficiencyStep> steps;
    const ReadResult pairs = ReadSteps(*list, list_place, steps);
    // The entries before the one that is no pair are checked first.
    RateTable table;
    if (const ErrorCode code = MakeEngineTable(tflops, steps, table);
        code != ErrorCode::kNone) {
      return Fail(code, fmt::format("{} = {}", list_place, Shown(*list)));
    }
    if (!pairs.ok()) return pairs;
    const size_t index = IndexOf(Json(datatype), kDatatypes);
    if (index < kDatatypes.size()) engine.tables[index] = std::move(table);
  }
  return {};
}

ReadResult ReadMemory(const Json& object, const std::string& place,
                      Memory& memory) {
  double gibibytes = 0;
  if (ReadResult result = ReadNumber(object, place, "GiB", gibibytes);
      !result.ok())
    return result;
  double gigabytes_per_s = 0;
  if (ReadResult result = ReadNumber(object, place, "GBps", gigabytes_per_s);
      !result.ok()) {
    return result;
  }
  const auto list = object.find("MB_efficiency");
  if (list == object.end()) {
    return Fail(ErrorCode::kSysMissingKey, place + " has no 'MB_efficiency'");
  }
  const std::string list_place = place + ".MB_efficiency";
  std::vector<EfficiencyStep> steps;
  const ReadResult pairs = ReadSteps(*list, list_place, steps);
  memory.capacity_bytes = gibibytes * (1024.0 * 1024 * 1024);
  if (const ErrorCode code =
          MakeMemoryTable(gigabytes_per_s, steps, memory.rate);
      code != ErrorCode::kNone) {
    return Fail(code, fmt::format("{} = {}", list_place, Shown(*list)));
  }
  return pairs;
}

constexpr std::array<std::string_view, kNetworkOpCount> kOps = {
    "p2p", "reduce_scatter", "all_gather", "all_reduce"};

ReadResult ReadNetworkOp(const std::string& name, const Json& pair,
                         const std::string& place, Network& network) {
  const size_t index = IndexOf(Json(name), kOps);
  if (!pair.is_array() || pair.size() < 2) {
    return Fail(ErrorCode::kValueType,
                place + " is no pair of scalar and offset");
  }
  if (index == kOps.size()) return Fail(ErrorCode::kNetOpName, place);
  Network::Op& op = network.ops[index];
  if (!ToDouble(pair[0], op.scalar)) {
    return Fail(ErrorCode::kValueType, fmt::format("{}: scalar {} is no number",
                                                   place, Shown(pair[0])));
  }
  if (!(op.scalar > 0)) {
    return Fail(ErrorCode::kNetOpScalar,
                fmt::format("{}: scalar {}", place, op.scalar));
  }
  const Json& offset = pair[1];
  if (static_cast<NetworkOp>(index) == NetworkOp::kP2p) {
    if (!offset.is_null()) {
      return Fail(ErrorCode::kNetP2pOffset,
                  fmt::format("{}: offset {}", place, Shown(offset)));
    }
    op.offset = 0;
    return {};
  }
  if (offset.is_null()) return Fail(ErrorCode::kNetOpNeedsOffset, place);
  if (!ToDouble(offset, op.offset)) {
    return Fail(ErrorCode::kValueType, fmt::format("{}: offset {} is no number",
                                                   place, Shown(offset)));
  }
  return {};
}

bool HasExactly(const Json& object, absl::Span<const std::string_view> keys) {
  return object.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(), [&object](std::string_view key) {
           return object.contains(std::string(key));
         });
}

ReadResult ReadNetwork(const Json& object, const std::string& place,
                       Network& network) {
  static constexpr std::array<std::string_view, 7> kKeys = {
      "bandwidth", "efficiency",     "size",           "latency",
      "ops",       "must_be_filled", "processor_usage"};
  if (!object.is_object())
    return Fail(ErrorCode::kValueType, place + " is no object");
  if (!HasExactly(object, kKeys)) return Fail(ErrorCode::kNetKeys, place);

  double gigabytes_per_s = 0;
  if (ReadResult result =
          ReadNumber(object, place, "bandwidth", gigabytes_per_s);
      !result.ok()) {
    return result;
  }
  network.bandwidth_bytes_per_s = gigabytes_per_s * 1e9;
  if (!(network.bandwidth_bytes_per_s > 0)) {
    return Fail(ErrorCode::kNetBwPos,
                fmt::format("{}.bandwidth = {}", place, gigabytes_per_s));
  }
  if (ReadResult result =
          ReadNumber(object, place, "efficiency", network.efficiency);
      !result.ok()) {
    return result;
  }
  if (!(0 < network.efficiency && network.efficiency <= 1)) {
    return Fail(ErrorCode::kNetEffRange,
                fmt::format("{}.efficiency = {}", place, network.efficiency));
  }
  if (ReadResult result = ReadNumber(object, place, "size", network.size);
      !result.ok()) {
    return result;
  }
  if (!(network.size >= 0)) {
    return Fail(ErrorCode::kNetSizeNegative,
                fmt::format("{}.size = {}", place, network.size));
  }
  if (ReadResult result =
          ReadNumber(object, place, "latency", network.latency_s);
      !result.ok()) {
    return result;
  }
  const Json& ops = object["ops"];
  if (!ops.is_object())
    return Fail(ErrorCode::kValueType, place + ".ops is no object");
  for (const auto& [name, pair] : ops.items()) {
    ReadResult result = ReadNetworkOp(
        name, pair, fmt::format("{}.ops.{}", place, name), network);
    if (!result.ok()) return result;
  }
  if (!HasExactly(ops, kOps))
    return Fail(ErrorCode::kNetOpsSet, place + ".ops");
  network.must_be_filled = IsTrue(object["must_be_filled"]);
  if (ReadResult result =
          ReadNumber(object, place, "processor_usage", network.processor_usage);
      !result.ok()) {
    return result;
  }
  if (!(network.processor_usage >= 0 && network.processor_usage < 1)) {
    return Fail(
        ErrorCode::kNetUsageRange,
        fmt::format("{}.processor_usage = {}", place, network.processor_usage));
  }
  return {};
}

}  // namespace

ReadResult ReadApplication(const Json& document, Application& application) {
  struct Field {
    const char* key;
    int64_t Application::*member;
  };
  static constexpr std::array<Field, 6> kFields = {
      {{"hidden", &Application::hidden},
       {"feedforward", &Application::feedforward},
       {"seq_size", &Application::seq_size},
       {"attn_heads", &Application::attn_heads},
       {"attn_size", &Application::attn_size},
       {"num_blocks", &Application::num_blocks}}};
  if (!document.is_object())
    return Fail(ErrorCode::kValueType, "the application is no object");
  for (const Field& field : kFields) {
    if (!document.contains(field.key)) {
      return Fail(ErrorCode::kAppMissingKey,
                  fmt::format("'{}' is missing", field.key));
    }
  }
  application = Application();
  for (const Field& field : kFields) {
    const Json& value = document[field.key];
    if (!ToCount(value, application.*field.member)) {
      return Fail(ErrorCode::kValueType, fmt::format("{} = {} is no integer",
                                                     field.key, Shown(value)));
    }
  }
  return {};
}

ReadResult ReadExecution(const Json& document, Execution& execution) {
  struct Count {
    const char* key;
    int64_t Execution::*member;
  };
  static constexpr std::array<Count, 10> kCounts = {
      {{"num_procs", &Execution::num_procs},
       {"tensor_par", &Execution::tensor_par},
       {"pipeline_par", &Execution::pipeline_par},
       {"data_par", &Execution::data_par},
       {"tensor_par_net", &Execution::tensor_par_net},
       {"pipeline_par_net", &Execution::pipeline_par_net},
       {"data_par_net", &Execution::data_par_net},
       {"batch_size", &Execution::batch_size},
       {"microbatch_size", &Execution::microbatch_size},
       {"pipeline_interleaving", &Execution::pipeline_interleaving}}};
  struct Switch {
    const char* key;
    bool Execution::*member;
  };
  static constexpr std::array<Switch, 8> kSwitches = {
      {{"fused_activation", &Execution::fused_activation},
       {"optimizer_sharding", &Execution::optimizer_sharding},
       {"seq_par_ag_redo", &Execution::seq_par_ag_redo},
       {"data_par_overlap", &Execution::data_par_overlap},
       {"weight_offload", &Execution::weight_offload},
       {"activations_offload", &Execution::activations_offload},
       {"optimizer_offload", &Execution::optimizer_offload},
       {"training", &Execution::training}}};
  static constexpr std::array<const char*, 5> kChoices = {
      "datatype", "attention_type", "activation_recompute",
      "tensor_par_comm_type", "tensor_par_overlap"};

  if (!document.is_object())
    return Fail(ErrorCode::kValueType, "the execution is no object");
  const auto require = [&document](const char* key) {
    return document.contains(key);
  };
  for (const Count& count : kCounts) {
    if (!require(count.key))
      return Fail(ErrorCode::kExeKeys, fmt::format("no '{}'", count.key));
  }
  for (const Switch& toggle : kSwitches) {
    if (!require(toggle.key))
      return Fail(ErrorCode::kExeKeys, fmt::format("no '{}'", toggle.key));
  }
  for (const char* choice : kChoices) {
    if (!require(choice))
      return Fail(ErrorCode::kExeKeys, fmt::format("no '{}'", choice));
  }
  constexpr size_t kKeys = kCounts.size() + kSwitches.size() + kChoices.size();
  if (document.size() != kKeys) {
    return Fail(ErrorCode::kExeKeys,
                fmt::format("{} keys instead of {}", document.size(), kKeys));
  }

  execution = Execution();
  for (const Count& count : kCounts) {
    const Json& value = document[count.key];
    if (!ToCount(value, execution.*count.member)) {
      return Fail(ErrorCode::kValueType, fmt::format("{} = {} is no integer",
                                                     count.key, Shown(value)));
    }
  }
  for (const Switch& toggle : kSwitches) {
    execution.*toggle.member = IsTrue(document[toggle.key]);
  }
  using Names2 = std::array<std::string_view, 2>;
  using Names3 = std::array<std::string_view, 3>;
  execution.datatype =
      static_cast<Datatype>(IndexOf(document["datatype"], kDatatypes));
  execution.attention_type = static_cast<AttentionType>(
      IndexOf(document["attention_type"], Names2{"multihead", "multiquery"}));
  execution.activation_recompute = static_cast<Recompute>(IndexOf(
      document["activation_recompute"], Names3{"none", "attn_only", "full"}));
  execution.tensor_par_comm_type = static_cast<TensorComm>(IndexOf(
      document["tensor_par_comm_type"], Names3{"ar", "p2p_rs_ag", "rs_ag"}));
  execution.tensor_par_overlap = static_cast<TensorOverlap>(
      IndexOf(document["tensor_par_overlap"], Names3{"none", "ring", "pipe"}));

  const ErrorCode code = CheckExecution(execution);
  if (code == ErrorCode::kNone) return {};
  return {code, ExplainExecution(code, execution)};
}

ReadResult ReadSystem(const Json& document, System& system) {
  if (!document.is_object())
    return Fail(ErrorCode::kValueType, "the system is no object");
  system = System();
  const auto missing = [](const char* key) {
    return Fail(ErrorCode::kSysMissingKey, fmt::format("'{}' is missing", key));
  };
  // Each part is looked for and read before the next is looked for.
  const auto part = [&](const char* key, auto read, auto& into) -> ReadResult {
    const auto found = document.find(key);
    if (found == document.end()) return missing(key);
    if (!found->is_object())
      return Fail(ErrorCode::kValueType, fmt::format("{} is no object", key));
    return read(*found, key, into);
  };
  if (ReadResult result = part("matrix", ReadEngine, system.matrix);
      !result.ok())
    return result;
  if (ReadResult result = part("vector", ReadEngine, system.vector);
      !result.ok())
    return result;
  if (ReadResult result = part("mem1", ReadMemory, system.mem1); !result.ok())
    return result;
  if (ReadResult result = part("mem2", ReadMemory, system.mem2); !result.ok())
    return result;

  const auto mode = document.find("processing_mode");
  if (mode == document.end()) return missing("processing_mode");
  const size_t index =
      IndexOf(*mode, std::array<std::string_view, 2>{"roofline", "no_overlap"});
  if (index == 2) {
    return Fail(ErrorCode::kSysMode,
                fmt::format("processing_mode = {}", Shown(*mode)));
  }
  system.roofline = index == 0;

  const auto networks = document.find("networks");
  if (networks == document.end()) return missing("networks");
  if (!networks->is_array())
    return Fail(ErrorCode::kValueType, "networks is no list");
  for (size_t i = 0; i < networks->size(); ++i) {
    Network network;
    ReadResult result =
        ReadNetwork((*networks)[i], fmt::format("networks[{}]", i), network);
    if (!result.ok()) return result;
    system.networks.push_back(network);
  }
  return {};
}

}  // namespace lmsimbench::calculon
