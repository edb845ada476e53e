#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/core/recompute_modules.h"
#include "lib/core/rules.h"

namespace lmsimbench::legality {
namespace {

bool RankOrder(const Subject& s, std::string* why) {
  const std::string& order = s.config.rank_order;
  if (order.empty() || order == "tp-cp-ep-dp-pp") return true;
  std::vector<std::string> named = absl::StrSplit(order, '-');
  std::sort(named.begin(), named.end());
  if (named == std::vector<std::string>{"cp", "dp", "ep", "pp", "tp"}) {
    return true;
  }
  return Broken(
      why, "rank order '{}' does not name tp, cp, ep, dp, pp once each", order);
}

// The sharding group may reach over context-parallel ranks, which hold the same
// parameters as data-parallel ones.
bool ZeroGroup(const Subject& s, std::string* why) {
  const int64_t ranks = SaturatingProduct(s.config.dp, s.config.cp);
  if (!Indivisible(ranks, s.config.zero_group)) return true;
  return Broken(why,
                "a ZeRO group of {} ranks does not divide the {} ranks that "
                "hold the same parameters (DP {} * CP {})",
                s.config.zero_group, ranks, s.config.dp, s.config.cp);
}

bool ZeroGroupNeedsStage(const Subject& s, std::string* why) {
  if (s.config.zero != ZeroStage::kNone || !IsStated(s.config.zero_group)) {
    return true;
  }
  return Broken(why, "a ZeRO group of {} ranks without a ZeRO stage",
                s.config.zero_group);
}

// Full recomputation may state the layers of a group, too.
bool RecomputesLayers(Recompute recompute) {
  return recompute == Recompute::kNotStated || recompute == Recompute::kFull ||
         recompute == Recompute::kLayers;
}

bool RecomputeLayersNeedThem(const Subject& s, std::string* why) {
  if (!IsStated(s.config.recompute_layers) ||
      RecomputesLayers(s.config.recompute)) {
    return true;
  }
  return Broken(why, "recompute_layers {} with recomputation {}",
                s.config.recompute_layers,
                std::string(Name(s.config.recompute)));
}

bool RecomputeMethodNeedsLayers(const Subject& s, std::string* why) {
  if (s.config.recompute_method == RecomputeMethod::kNotStated ||
      RecomputesLayers(s.config.recompute)) {
    return true;
  }
  return Broken(why, "recompute_method {} with recomputation {}",
                std::string(Name(s.config.recompute_method)),
                std::string(Name(s.config.recompute)));
}

// Megatron-LM says "full" for both: every layer, or blocks of each stage.
bool FullRecomputeHasNoBlocks(const Subject& s, std::string* why) {
  if (s.config.recompute != Recompute::kFull ||
      s.config.recompute_method != RecomputeMethod::kBlock) {
    return true;
  }
  return Broken(why,
                "recomputation full takes every layer; recompute_method block "
                "takes the first layers of each stage: recompute layers");
}

bool RecomputeLayersWithin(const Subject& s, std::string* why) {
  if (!IsStated(s.model.layers) ||
      s.config.recompute_layers <= s.model.layers) {
    return true;
  }
  return Broken(why, "recompute_layers {} of a model of {} layers",
                s.config.recompute_layers, s.model.layers);
}

bool RecomputeModulesNeedSelection(const Subject& s, std::string* why) {
  const Recompute recompute = s.config.recompute;
  if (s.config.recompute_modules.empty() ||
      recompute == Recompute::kNotStated ||
      recompute == Recompute::kSelective ||
      recompute == Recompute::kOperators) {
    return true;
  }
  return Broken(why, "recompute_modules '{}' with recomputation {}",
                s.config.recompute_modules, std::string(Name(recompute)));
}

bool RecomputeModulesAreKnown(const Subject& s, std::string* why) {
  const std::string& modules = s.config.recompute_modules;
  absl::string_view unknown;
  if (modules.empty() ||
      VisitRecomputeModules(modules, [&unknown](absl::string_view name) {
        unknown = name;
        return IsRecomputeModule(name);
      })) {
    return true;
  }
  return Broken(why, "recompute_modules '{}' names '{}'; known are {}", modules,
                std::string(unknown), absl::StrJoin(kRecomputeModules, ", "));
}

constexpr Rule kRules[] = {
    {"rank order names each parallelism once", RankOrder, {"rank_order"}},
    {"zero group divides the data-parallel ranks", ZeroGroup, {"zero_group"}},
    {"zero group needs a ZeRO stage",
     ZeroGroupNeedsStage,
     {"zero_group", "zero"}},
    {"recompute layers need layer recomputation",
     RecomputeLayersNeedThem,
     {"recompute", "recompute_layers"}},
    {"recompute method needs layer recomputation",
     RecomputeMethodNeedsLayers,
     {"recompute_method", "recompute"}},
    {"full recomputation has no blocks",
     FullRecomputeHasNoBlocks,
     {"recompute", "recompute_method"}},
    {"recompute layers are within the model",
     RecomputeLayersWithin,
     {"recompute_layers"}},
    {"recompute modules need selective recomputation",
     RecomputeModulesNeedSelection,
     {"recompute", "recompute_modules"}},
    {"recompute modules are known",
     RecomputeModulesAreKnown,
     {"recompute_modules"}},
};

}  // namespace

absl::Span<const Rule> StateRules() { return kRules; }

}  // namespace lmsimbench::legality
