#include "lib/core/offers.h"

#include <algorithm>
#include <cstdlib>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/core/recompute_modules.h"
#include "lmsimbench/layout.h"

namespace lmsimbench {
namespace legality {
namespace {

using Value = Offer::Value;
using Numbers = std::vector<int64_t>;

// The present value of a numeric field.
int64_t NumberOf(const Subject& s, const std::string& field) {
  int64_t number = kNoCount;
  const auto find = [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, int64_t>) {
      if (field == name) number = value;
    }
  };
  ParallelConfig::VisitFields(find, s.config);
  Workload::VisitFields(find, s.workload);
  return number;
}

void AddDivisors(int64_t number, Numbers& numbers) {
  if (number > kLargestSize) return;
  const Numbers divisors = Divisors(number);
  numbers.insert(numbers.end(), divisors.begin(), divisors.end());
}

// Sequences of a replica; -1 if not known or not whole.
int64_t LocalBatch(const Subject& s) {
  const int64_t batch = s.workload.global_batch;
  return IsStated(batch) && batch % s.config.dp == 0 ? batch / s.config.dp
                                                     : kNoCount;
}

Numbers NumberCandidates(const Subject& s, const std::string& field) {
  const ParallelConfig& c = s.config;
  Numbers numbers = {1};
  if (field == "dp") {
    const int64_t rest = SaturatingProduct(c.tp, c.pp, c.cp);
    if (s.devices % rest == 0) numbers.push_back(s.devices / rest);
    AddDivisors(s.workload.global_batch, numbers);
  } else if (field == "tp") {
    AddDivisors(s.devices, numbers);
    AddDivisors(s.model.heads, numbers);
    AddDivisors(s.model.hidden, numbers);
  } else if (field == "pp") {
    AddDivisors(s.devices, numbers);
    AddDivisors(s.model.layers, numbers);
    if (IsStated(s.model.layers)) numbers.push_back(s.model.layers + 2);
    if (IsStated(s.model.layers)) numbers.push_back(s.model.layers + 4);
  } else if (field == "cp") {
    AddDivisors(s.devices, numbers);
    AddDivisors(s.workload.seq_len, numbers);
    AddDivisors(s.model.heads, numbers);
  } else if (field == "context_inner") {
    AddDivisors(c.cp, numbers);
  } else if (field == "vpp") {
    numbers.push_back(2);
    AddDivisors(s.model.layers, numbers);
  } else if (field == "ep") {
    if (HasExperts(s.model)) AddDivisors(s.model.experts, numbers);
  } else if (field == "etp") {
    if (HasExperts(s.model)) {
      AddDivisors(s.model.expert_ffn, numbers);
      AddDivisors(c.tp, numbers);
    }
  } else if (field == "micro_batch") {
    AddDivisors(LocalBatch(s), numbers);
  } else if (field == "micro_batch_group") {
    numbers.push_back(c.pp);
    AddDivisors(MicroBatches(s.workload, c), numbers);
  } else if (field == "grad_accumulation") {
    const int64_t local = LocalBatch(s);
    AddDivisors(local, numbers);
    if (!IsStated(s.workload.global_batch)) {
      numbers.push_back(c.pp);
      numbers.push_back(2 * c.pp);
    }
  } else if (field == "zero_group") {
    AddDivisors(SaturatingProduct(c.dp, c.cp), numbers);
  } else if (field == "recompute_layers") {
    if (IsStated(s.model.layers)) numbers.push_back(s.model.layers);
  } else if (field == "global_batch") {
    const int64_t micro_batch = IsStated(c.micro_batch) ? c.micro_batch : 1;
    for (int64_t several : {int64_t{1}, c.pp, 2 * c.pp}) {
      const int64_t unit = SaturatingProduct(c.dp, micro_batch, several);
      const int64_t times = s.workload.global_batch / unit;
      for (int64_t n : {times, times + 1}) {
        if (n >= 1) numbers.push_back(SaturatingProduct(n, unit));
      }
    }
  }
  return numbers;
}

// Names to try in this order, and last that nothing is said.
template <typename Enum>
std::vector<Value> NamesOf() {
  std::vector<Value> names;
  for (const char* name : EnumNames<Enum>::kNames) {
    names.emplace_back(std::string(name));
  }
  std::rotate(names.begin(), names.begin() + 1, names.end());
  return names;
}

// Lists that hold all layers, over the stages and over the chunks.
std::vector<Value> ListCandidates(const Subject& s) {
  constexpr int64_t kLongest = 1 << 16;
  std::vector<Value> lists;
  const int64_t layers = s.model.layers;
  const auto add = [&lists, layers](int64_t parts, StagePlacement placement) {
    if (parts > kLongest || layers < 1) return;
    lists.emplace_back(PlaceLayers(layers, parts, placement));
  };
  const int64_t pp = s.config.pp;
  const int64_t chunks = SaturatingProduct(pp, ChunksPerRank(s.config));
  if (layers % 2 == 0 && pp <= kLongest && layers > 0) {
    // Even numbers on every stage.
    Numbers pairs =
        PlaceLayers(layers / 2, pp, StagePlacement::kRemainderFirst);
    for (int64_t& pair : pairs) pair *= 2;
    if (layers % pp != 0) add(pp, StagePlacement::kRemainderFirst);
    lists.emplace_back(std::move(pairs));
  }
  add(pp, StagePlacement::kRemainderFirst);
  if (chunks != pp) add(chunks, StagePlacement::kRemainderFirst);
  lists.emplace_back(Numbers());
  return lists;
}

// A copy of the question with one value in place.
struct Changed {
  Workload workload;
  ParallelConfig config;
};
bool Apply(const Subject& s, const Offer& offer, int64_t devices,
           Changed& changed) {
  changed.workload = s.workload;
  changed.config = s.config;
  return TakeOffer(offer, devices, changed.workload, changed.config).ok();
}

bool MovesDp(const std::string& field) {
  return field == "tp" || field == "pp" || field == "cp";
}

// Nearest below and above, of those the nearer first; other than numbers only
// the first.
bool EnoughOf(const std::vector<Offer>& found, const Value& next,
              int64_t present) {
  if (found.empty()) return false;
  const auto* number = std::get_if<int64_t>(&next);
  if (number == nullptr) return true;
  return std::any_of(found.begin(), found.end(),
                     [number, present](const Offer& offer) {
                       return (std::get<int64_t>(offer.value) < present) ==
                              (*number < present);
                     });
}

bool InRange(const Subject& s) {
  for (absl::Span<const Rule> table : {WorkloadRules(), SizeRules()}) {
    for (const Rule& rule : table) {
      if (!rule.holds(s, nullptr)) return false;
    }
  }
  return true;
}

// A size that is out of range has no neighbours: the nearest end of the range.
std::vector<Offer> RangeOffers(const Subject& s, const Rule& rule) {
  std::vector<Offer> offers;
  for (const char* field : rule.fields) {
    if (field == nullptr) break;
    if (std::string(field) == "stage_layers") {
      offers.push_back({field, Numbers(), false});
    } else {
      const int64_t present = NumberOf(s, field);
      offers.push_back({field, present < 1 ? int64_t{1} : kLargestSize, false});
    }
  }
  return offers;
}

}  // namespace

std::vector<Value> Candidates(const Subject& s, const std::string& field) {
  if (field == "sequence_parallel") return {false};
  if (field == "rank_order") return {ParallelConfig().rank_order};
  if (field == "zero") return NamesOf<ZeroStage>();
  if (field == "recompute") return NamesOf<Recompute>();
  if (field == "recompute_modules") {
    return {NearestRecomputeModules(s.config.recompute_modules), std::string()};
  }
  if (field == "recompute_method") return NamesOf<RecomputeMethod>();
  if (field == "context_algorithm") return NamesOf<ContextAlgorithm>();
  if (field == "placement") return NamesOf<StagePlacement>();
  if (field == "schedule") {
    // Nearest to most schedules is the plain one.
    std::vector<Value> names = NamesOf<Schedule>();
    std::swap(names[0], names[1]);
    return names;
  }
  if (field == "stage_layers") return ListCandidates(s);

  Numbers numbers = NumberCandidates(s, field);
  const int64_t present = NumberOf(s, field);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::stable_sort(numbers.begin(), numbers.end(),
                   [present](int64_t a, int64_t b) {
                     return std::abs(a - present) < std::abs(b - present);
                   });
  std::vector<Value> values;
  for (int64_t number : numbers) {
    if (number != present && number <= kLargestSize)
      values.emplace_back(number);
  }
  return values;
}

std::vector<Offer> FindOffers(const Subject& s, const Rule& rule,
                              int64_t devices) {
  if (!InRange(s)) return RangeOffers(s, rule);
  std::vector<Offer> mending;
  std::vector<Offer> legal;
  Changed changed;
  for (const char* field : rule.fields) {
    if (field == nullptr) break;
    const int64_t present = NumberOf(s, field);
    std::vector<Offer> mending_here;
    std::vector<Offer> legal_here;
    for (Value& value : Candidates(s, field)) {
      if (EnoughOf(legal_here, value, present)) continue;
      Offer offer{field, std::move(value), IsStated(devices) && MovesDp(field)};
      if (!Apply(s, offer, devices, changed)) continue;
      const Subject after =
          MakeSubject(changed.workload, changed.config, devices);
      if (!rule.holds(after, nullptr)) continue;
      if (AllHold(after)) legal_here.push_back(offer);
      if (!EnoughOf(mending_here, offer.value, present)) {
        mending_here.push_back(std::move(offer));
      }
    }
    mending.insert(mending.end(), mending_here.begin(), mending_here.end());
    legal.insert(legal.end(), legal_here.begin(), legal_here.end());
  }
  return legal.empty() ? mending : legal;
}

std::string OffersText(const std::vector<Offer>& offers) {
  struct Text {
    std::string operator()(int64_t number) const {
      return fmt::format("{}", number);
    }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(const std::string& text) const {
      return text.empty() ? "not stated" : text;
    }
    std::string operator()(const Numbers& list) const {
      return list.empty() ? "no list"
                          : fmt::format("[{}]", fmt::join(list, ","));
    }
  };
  std::string text;
  const std::string* last_field = nullptr;
  for (const Offer& offer : offers) {
    const std::string value = std::visit(Text(), offer.value);
    if (last_field != nullptr && *last_field == offer.field) {
      text += " or " + value;
    } else {
      text += fmt::format("{}{} {}", text.empty() ? "; nearest: " : ", ",
                          offer.field, value);
    }
    last_field = &offer.field;
  }
  return text;
}

}  // namespace legality

namespace {

template <typename Field>
bool Assign(const Offer::Value& value, Field& field) {
  if constexpr (std::is_same_v<Field, YesNo>) {
    const bool* yes = std::get_if<bool>(&value);
    if (yes != nullptr) field = *yes ? YesNo::kYes : YesNo::kNo;
    return yes != nullptr;
  } else if constexpr (std::is_enum_v<Field>) {
    const auto* name = std::get_if<std::string>(&value);
    return name != nullptr && ParseName(*name, field);
  } else if constexpr (std::is_same_v<Field, int64_t> ||
                       std::is_same_v<Field, std::string> ||
                       std::is_same_v<Field, std::vector<int64_t>>) {
    const auto* same = std::get_if<Field>(&value);
    if (same != nullptr) field = *same;
    return same != nullptr;
  } else {
    return false;
  }
}

}  // namespace

absl::Status TakeOffer(const Offer& offer, int64_t devices, Workload& workload,
                       ParallelConfig& config) {
  bool taken = false;
  if (offer.field == "global_batch") {
    taken = Assign(offer.value, workload.global_batch);
  } else {
    ParallelConfig::VisitFields(
        [&](const char* name, auto& field) {
          if (offer.field == name) taken = Assign(offer.value, field);
        },
        config);
  }
  if (!taken) {
    return absl::InvalidArgumentError(
        fmt::format("field '{}' cannot hold the offered value", offer.field));
  }
  if (!offer.dp_follows) return absl::OkStatus();
  const int64_t rest = SaturatingProduct(config.tp, config.pp, config.cp);
  if (rest < 1 || devices % rest != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} devices do not divide by TP {} * PP {} * CP {}",
                    devices, config.tp, config.pp, config.cp));
  }
  config.dp = devices / rest;
  return absl::OkStatus();
}

}  // namespace lmsimbench
