#include "lib/profile/run_cells.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "lmsimbench/nearest_name.h"

namespace lmsimbench {
namespace {

absl::Status Unknown(const std::string& what, const std::string& text,
                     const std::vector<std::string>& known) {
  const std::string nearest = NearestName(text, known);
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" is no {}; {}", text, what,
      nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                      : fmt::format("did you mean \"{}\"?", nearest)));
}

// Names of an enumeration, without the first, which says that nothing is known.
template <typename Enum>
std::vector<std::string> KnownNames() {
  return std::vector<std::string>(
      std::next(std::begin(EnumNames<Enum>::kNames)),
      std::end(EnumNames<Enum>::kNames));
}

template <typename Enum>
absl::Status ReadName(const char* what, const std::string& text, Enum& value) {
  if (text.empty()) {
    value = Enum{};
    return absl::OkStatus();
  }
  if (ParseName(text, value) && value != Enum{}) return absl::OkStatus();
  value = Enum{};
  return Unknown(what, text, KnownNames<Enum>());
}

absl::Status ReadCount(absl::string_view text, int64_t& count) {
  if (absl::SimpleAtoi(text, &count) && count >= kNoCount) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "\"{}\" is neither a count nor -1 for 'not stated'", std::string(text)));
}

absl::Status ReadFact(absl::string_view text, YesNo& fact) {
  if (text == "True" || text == "true" || text == "1") {
    fact = YesNo::kYes;
  } else if (text == "False" || text == "false" || text == "0") {
    fact = YesNo::kNo;
  } else {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is neither True nor False", std::string(text)));
  }
  return absl::OkStatus();
}

// \{ Reads the value of an option into a field of any type.
absl::Status ReadValue(const std::string& text, int64_t& field) {
  return ReadCount(text, field);
}
absl::Status ReadValue(const std::string& text, double& field) {
  if (absl::SimpleAtod(text, &field) && field >= 0 && field <= 1e300) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" is not a number of at least 0", text));
}
absl::Status ReadValue(const std::string& text, std::string& field) {
  field = text;
  return absl::OkStatus();
}
absl::Status ReadValue(const std::string& text, std::vector<int64_t>& field) {
  field.clear();
  for (const absl::string_view entry : absl::StrSplit(text, ',')) {
    field.push_back(kNoCount);
    absl::Status status = ReadCount(entry, field.back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}
template <typename Enum>
absl::Status ReadValue(const std::string& text, Enum& field) {
  if constexpr (std::is_same_v<Enum, YesNo>) {
    return ReadFact(text, field);
  } else {
    return ReadName("known value", text, field);
  }
}
// \}

// Fields that the columns of the table fill; an option must not speak over
// them.
bool HasColumn(absl::string_view field) {
  static constexpr absl::string_view kColumns[] = {
      "name",         "hidden",
      "layers",       "heads",
      "kv_heads",     "ffn",
      "expert_ffn",   "gated_mlp",
      "vocab",        "attention",
      "experts",      "top_k",
      "model",        "seq_len",
      "global_batch", "precision",
      "dp",           "tp",
      "pp",           "cp",
      "vpp",          "ep",
      "etp",          "micro_batch",
      "recompute",    "sequence_parallel",
      "zero"};
  return std::find(std::begin(kColumns), std::end(kColumns), field) !=
         std::end(kColumns);
}

// A source's own word for a field, and for its values.
struct SourceWord {
  absl::string_view key;
  absl::string_view field;
  std::vector<std::pair<absl::string_view, absl::string_view>> values;
};

const std::vector<SourceWord>& SourceWords() {
  static const auto* const kWords = new std::vector<SourceWord>{
      {"cp_algorithm",
       "context_algorithm",
       {{"megatron_cp_algo", "ring"},
        {"ulysses_cp_algo", "ulysses"},
        {"hybrid_cp_algo", "hybrid"}}},
      // Here -1 says that the model has no dense layers.
      {"moe_dense_first_layers", "dense_first_layers", {{"-1", "0"}}},
      {"moe_dispatcher", "expert_dispatch", {}},
      {"moe_grouped_gemm", "grouped_gemm", {}},
  };
  return *kWords;
}

// Calls `visit(name, field)` for every field that an option may set.
template <typename Visit>
void VisitOptions(Workload& workload, ParallelConfig& config, Visit visit) {
  const auto visit_field = [&visit](const char* name, auto& field) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(field)>, ModelSpec>) {
      if (!HasColumn(name)) visit(name, field);
    }
  };
  ModelSpec::VisitFields(visit_field, workload.model);
  Workload::VisitFields(visit_field, workload);
  ParallelConfig::VisitFields(visit_field, config);
}

std::vector<std::string> KnownOptions() {
  std::vector<std::string> known;
  Workload workload;
  ParallelConfig config;
  VisitOptions(workload, config, [&known](const char* name, const auto&) {
    known.emplace_back(name);
  });
  for (const SourceWord& word : SourceWords()) known.emplace_back(word.key);
  return known;
}

absl::Status ReadOption(const std::string& key, std::string value,
                        Workload& workload, ParallelConfig& config) {
  absl::string_view field = key;
  for (const SourceWord& word : SourceWords()) {
    if (word.key != key) continue;
    field = word.field;
    for (const auto& [theirs, ours] : word.values) {
      if (theirs == value) value = std::string(ours);
    }
  }
  if (HasColumn(field)) {
    return absl::InvalidArgumentError(
        fmt::format("option '{}': the table has a column for it", key));
  }
  bool found = false;
  absl::Status status;
  VisitOptions(workload, config, [&](const char* name, auto& member) {
    if (field != name) return;
    found = true;
    status = ReadValue(value, member);
  });
  if (!found) return Unknown("option", key, KnownOptions());
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("option '{}': {}", key, std::string(status.message())));
}

}  // namespace

absl::Status ReadPrecision(const std::string& text, Precision& precision) {
  return ReadName("precision", text, precision);
}
absl::Status ReadAttention(const std::string& text, AttentionKind& attention) {
  return ReadName("kind of attention", text, attention);
}
absl::Status ReadNorm(const std::string& text, NormKind& norm) {
  return ReadName("kind of normalisation", text, norm);
}
absl::Status ReadPositions(const std::string& text, PositionKind& positions) {
  return ReadName("kind of positions", text, positions);
}
absl::Status ReadZeroStage(const std::string& text, ZeroStage& zero) {
  return ReadName("ZeRO stage", text, zero);
}

absl::Status ReadRecompute(const std::string& text, ParallelConfig& config) {
  absl::string_view layers = text;
  if (absl::ConsumePrefix(&layers, "layers:")) {
    config.recompute = Recompute::kLayers;
    if (absl::SimpleAtoi(layers, &config.recompute_layers) &&
        config.recompute_layers > 0) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" gives no number of layers above 0", text));
  }
  if (text.empty()) {
    config.recompute = Recompute::kNotStated;
  } else if (text == "none") {
    config.recompute = Recompute::kNone;
  } else if (text == "selective") {
    config.recompute = Recompute::kSelective;
  } else if (text == "full") {
    config.recompute = Recompute::kFull;
  } else if (text == "op-level partial") {
    config.recompute = Recompute::kOperators;
  } else {
    return Unknown(
        "recomputation", text,
        {"none", "selective", "full", "layers:N", "op-level partial"});
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(absl::string_view text, Workload& workload,
                         ParallelConfig& config) {
  std::vector<std::string> seen;
  for (const absl::string_view piece : absl::StrSplit(text, ';')) {
    const absl::string_view option = absl::StripAsciiWhitespace(piece);
    if (option.empty()) continue;
    const size_t equals = option.find('=');
    if (equals == absl::string_view::npos || equals == 0) {
      return absl::InvalidArgumentError(fmt::format(
          "\"{}\" is not of the form key=value", std::string(option)));
    }
    const std::string key(absl::StripAsciiWhitespace(option.substr(0, equals)));
    const std::string value(
        absl::StripAsciiWhitespace(option.substr(equals + 1)));
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return absl::InvalidArgumentError(
          fmt::format("option '{}' is there twice", key));
    }
    seen.push_back(key);
    if (value.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("option '{}' has no value", key));
    }
    absl::Status status = ReadOption(key, value, workload, config);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

MemoryScope ReadMemoryScope(absl::string_view text) {
  if (absl::StrContains(text, "process")) return MemoryScope::kProcess;
  if (absl::StrContains(text, "reserved")) return MemoryScope::kReserved;
  if (absl::StrContains(text, "allocated") ||
      absl::StrContains(text, "torch peak")) {
    return MemoryScope::kAllocated;
  }
  return MemoryScope::kNotStated;
}

std::string OptionsWithoutAccumulation(absl::string_view options) {
  const std::vector<absl::string_view> pieces = absl::StrSplit(options, ';');
  std::vector<absl::string_view> kept;
  for (const absl::string_view piece : pieces) {
    if (!absl::StartsWith(piece, "grad_accumulation=")) kept.push_back(piece);
  }
  return absl::StrJoin(kept, ";");
}

}  // namespace lmsimbench
