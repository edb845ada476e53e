#include "lmsimbench/legality.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "absl/strings/match.h"
#include "lib/core/rules.h"
#include "lmsimbench/layout.h"
#include "test/core/model_examples.h"

namespace lmsimbench {
namespace {

struct Question {
  Workload workload;
  ParallelConfig config;
  int64_t devices = kNoCount;
};

Question Ask(const ModelSpec& model, int64_t seq_len, int64_t global_batch) {
  Question question;
  question.workload.model = model;
  question.workload.seq_len = seq_len;
  question.workload.global_batch = global_batch;
  return question;
}

std::vector<std::string> RulesBroken(const Question& q) {
  std::vector<std::string> rules;
  for (const Violation& v : FindViolations(q.workload, q.config, q.devices)) {
    rules.push_back(v.rule);
  }
  CHECK(rules.empty() == IsLegal(q.workload, q.config, q.devices));
  CHECK(rules.empty() == CheckLegal(q.workload, q.config, q.devices).ok());
  return rules;
}

Violation TheViolation(const Question& q) {
  const auto violations = FindViolations(q.workload, q.config, q.devices);
  REQUIRE(violations.size() == 1);
  return violations[0];
}

const Offer* OfferOf(const Violation& violation, const std::string& field) {
  for (const Offer& offer : violation.offers) {
    if (offer.field == field) return &offer;
  }
  return nullptr;
}

ModelSpec DenseLayers(int64_t layers) {
  ModelSpec model = Llama2_7B();
  model.layers = layers;
  return model;
}

TEST_CASE("a message names rule, numbers and the nearest legal values") {
  Question q = Ask(Llama2_7B(), 4096, kNoCount);
  q.workload.model.hidden = 4608;
  q.workload.model.ffn = 12288;
  q.workload.model.kv_heads = 2;
  q.config.tp = 6;
  const Violation violation = TheViolation(q);
  CHECK(violation.rule == "tp divides heads");
  CHECK(violation.message ==
        "tensor parallel size 6 does not divide 32 attention heads; nearest: "
        "tp 4 or 8");
}

// The collected cases whose part is core.
TEST_CASE(
    "30 layers on 4 stages, even placement: refused, an uneven list "
    "offered") {
  Question q = Ask(DenseLayers(30), 4096, 8);
  q.config.pp = 4;
  q.config.placement = StagePlacement::kEven;
  const Violation violation = TheViolation(q);
  CHECK(violation.rule == "layers divide evenly by the stages");
  const Offer* list = OfferOf(violation, "stage_layers");
  REQUIRE(list != nullptr);
  CHECK(std::get<std::vector<int64_t>>(list->value) ==
        std::vector<int64_t>{8, 8, 7, 7});
  CHECK(absl::StrContains(violation.message, "[8,8,7,7]"));
}

TEST_CASE(
    "1472 devices, TP 8, PP 8, global batch 32: DP 23 does not divide "
    "32") {
  Question q = Ask(DenseLayers(32), 4096, 32);
  q.config.tp = 8;
  q.config.pp = 8;
  q.config.dp = 23;
  q.config.micro_batch = 1;
  q.devices = 1472;
  const Violation violation = TheViolation(q);
  CHECK(violation.rule == "dp divides the global batch");
  CHECK(absl::StrContains(violation.message,
                          "1472 devices, TP 8, PP 8, CP 1, global batch 32: DP "
                          "= 23 does not divide 32"));
  CHECK(absl::StrContains(violation.message, "global_batch 23 or 46"));
  // 1472 = 8 * 23 * 8: 23 stages leave a DP of 8.
  const Offer* stages = OfferOf(violation, "pp");
  REQUIRE(stages != nullptr);
  CHECK(stages->dp_follows);
  CHECK(std::get<int64_t>(stages->value) == 23);
}

TEST_CASE("4 devices, TP 1, PP 2, CP 1, EP 2, ETP 1 is legal") {
  Question q = Ask(Qwen3_30B_A3B(), 4096, 8);
  q.config.dp = 2;
  q.config.pp = 2;
  q.config.ep = 2;
  q.config.etp = 1;
  q.devices = 4;
  CHECK(RulesBroken(q).empty());
  CHECK(ExpertDataParallel(q.config) == 1);
}

TEST_CASE("interleaved, PP 6, 3 micro-batches: refused with the group rule") {
  Question q = Ask(DenseLayers(36), 4096, 3);
  q.config.pp = 6;
  q.config.vpp = 2;
  q.config.schedule = Schedule::kInterleaved1F1B;
  q.config.micro_batch = 1;
  const Violation violation = TheViolation(q);
  CHECK(violation.rule == "interleaving has a micro-batch for each stage");
  CHECK(absl::StrContains(
      violation.message,
      "needs at least PP micro-batches (group size in [PP, m], m mod group = 0 "
      "or >= PP)"));
}

TEST_CASE("an EP that does not divide the experts is refused") {
  Question q = Ask(Qwen3_30B_A3B(), 4096, 48);
  q.config.dp = 48;
  q.config.ep = 48;
  const Violation violation = TheViolation(q);
  CHECK(violation.rule == "ep divides the experts");
  // 48 devices: of the divisors of 128, 16 is the nearest that divides them.
  CHECK(std::get<int64_t>(OfferOf(violation, "ep")->value) == 16);
}

TEST_CASE("key and value heads and tensor ranks: one divides the other") {
  for (int64_t tp : {1, 2, 4, 8, 16}) {
    Question q = Ask(DenseLayers(8), 4096, 8);
    q.workload.model.kv_heads = 4;
    q.config.tp = tp;
    CHECK(RulesBroken(q).empty());  // 8 and 16 replicate
  }
  Question q = Ask(DenseLayers(8), 4096, 8);
  q.workload.model.heads = 48;
  q.workload.model.kv_heads = 4;
  q.workload.model.hidden = 6144;
  q.workload.model.ffn = 12288;
  q.config.tp = 6;
  CHECK(RulesBroken(q) ==
        std::vector<std::string>{"tp and kv heads divide one another"});
}

TEST_CASE("as many micro-batches as stages are enough to interleave") {
  Question q = Ask(DenseLayers(24), 4096, 4);
  q.config.pp = 4;
  q.config.vpp = 3;
  q.config.micro_batch = 1;
  CHECK(RulesBroken(q).empty());
}

// What real runs do and what must therefore stay legal.
TEST_CASE("1F1B and GPipe may have fewer micro-batches than stages") {
  for (Schedule schedule :
       {Schedule::k1F1B, Schedule::kGPipe, Schedule::kNotStated}) {
    Question q = Ask(DenseLayers(32), 4096, 2);
    q.config.pp = 8;
    q.config.micro_batch = 1;
    q.config.schedule = schedule;
    CHECK(RulesBroken(q).empty());
  }
}

TEST_CASE("layers that do not divide are legal where no placement is stated") {
  Question q = Ask(DenseLayers(28), 4096, 32);
  q.config.pp = 8;
  CHECK(RulesBroken(q).empty());
  q.config.vpp = 2;
  CHECK(RulesBroken(q).empty());
  // 28 layers have run on 32 stages: embedding, norm, output layer and loss may
  // be stages of their own.
  q.config.vpp = 1;
  q.config.pp = 32;
  CHECK(RulesBroken(q).empty());
  q.config.pp = 33;
  CHECK_FALSE(RulesBroken(q).empty());
}

TEST_CASE("an explicit list may leave stages without layers") {
  Question q = Ask(DenseLayers(4), 4096, 32);
  q.config.pp = 4;
  q.config.stage_layers = {0, 2, 2, 0};
  CHECK(RulesBroken(q).empty());
}

TEST_CASE("sequence parallelism and experts are legal with TP 1") {
  Question q = Ask(Qwen3_30B_A3B(), 4096, 8);
  q.config.dp = 8;
  q.config.ep = 8;
  q.config.sequence_parallel = YesNo::kYes;
  CHECK(RulesBroken(q).empty());
}

TEST_CASE("an ETP is ignored by a dense model, as it is by Megatron-LM") {
  Question q = Ask(Llama2_7B(), 4096, 8);
  q.config.etp = 4;
  CHECK(RulesBroken(q).empty());
}

TEST_CASE("Ulysses copies key and value heads, so only query heads count") {
  Question q = Ask(Llama2_7B(), 4096, 8);
  q.workload.model.kv_heads = 2;
  q.config.cp = 8;
  q.config.context_algorithm = ContextAlgorithm::kUlysses;
  CHECK(RulesBroken(q).empty());
  q.config.tp = 8;  // 64 ranks for 32 heads
  CHECK(RulesBroken(q) ==
        std::vector<std::string>{"ulysses divides the heads"});
}

TEST_CASE(
    "five micro-batches of an interleaved schedule over four stages are "
    "one group") {
  Question q = Ask(DenseLayers(12), 4096, 5);
  q.config.pp = 4;
  q.config.vpp = 3;
  q.config.micro_batch = 1;
  CHECK(RulesBroken(q).empty());
}

TEST_CASE("a rule whose figures are not stated is not judged") {
  Question q;
  q.config.tp = 6;
  q.config.pp = 7;
  q.config.cp = 5;
  q.config.ep = 3;
  q.config.sequence_parallel = YesNo::kYes;
  q.config.micro_batch = 3;
  q.workload.model.experts = kNoCount;
  CHECK(RulesBroken(q).empty());
}

TEST_CASE("a size below one is reported alone, with the nearest size") {
  Question q = Ask(Llama2_7B(), 4096, 7);
  q.config.tp = 0;
  q.config.micro_batch = -7;
  q.devices = 5;
  CHECK(RulesBroken(q) ==
        std::vector<std::string>{"tp is a size", "micro-batch is a size"});
  const auto violations = FindViolations(q.workload, q.config, q.devices);
  CHECK(violations[0].message ==
        "a size of 0; sizes range from 1 to 2147483647; nearest: tp 1");
}

TEST_CASE("sizes beyond any machine do not overflow") {
  Question q = Ask(Llama2_7B(), 4096, 32);
  for (int64_t huge :
       {int64_t{2147483647}, int64_t{2147483648}, INT64_MAX, INT64_MIN}) {
    q.config.dp = huge;
    q.config.tp = huge;
    q.config.pp = huge;
    q.config.cp = huge;
    q.config.vpp = huge;
    q.config.ep = huge;
    q.config.zero_group = huge;
    for (int64_t devices : {kNoCount, int64_t{8}, huge}) {
      q.devices = devices;
      CHECK_FALSE(RulesBroken(q).empty());
      const auto nearest = NearestLegal(q.workload, q.config, devices);
      if (devices == 8) CHECK(nearest.ok());
    }
  }
}

// One configuration for every rule: it breaks that rule and no other.
struct RuleCase {
  const char* rule;
  std::function<void(Question&)> spoil;
};

const std::vector<RuleCase>& RuleCases() {
  using Q = Question;
  static const std::vector<RuleCase> cases = {
      {"workload figures are in range",
       [](Q& q) { q.workload.model.layers = 0; }},
      {"workload figures are in range", [](Q& q) { q.workload.seq_len = -2; }},
      {"workload figures are in range",
       [](Q& q) { q.workload.model.sliding_window = -3; }},
      {"kv heads divide heads", [](Q& q) { q.workload.model.kv_heads = 5; }},
      {"kv heads divide heads",
       [](Q& q) {
         q.workload.model.kv_heads = 8;
         q.workload.model.attention = AttentionKind::kMultiHead;
       }},
      {"top-k is within the experts",
       [](Q& q) {
         q.workload.model.experts = 8;
         q.workload.model.top_k = 9;
       }},
      {"expert figures need experts",
       [](Q& q) { q.workload.model.shared_experts = 1; }},
      {"expert figures need experts",
       [](Q& q) { q.workload.model.dense_first_layers = 1; }},
      {"dense first layers leave layers for experts",
       [](Q& q) {
         q.workload.model.experts = 8;
         q.workload.model.top_k = 2;
         q.workload.model.dense_first_layers = 32;
       }},
      {"latent figures need latent attention",
       [](Q& q) {
         q.workload.model.attention = AttentionKind::kGroupedQuery;
         q.workload.model.kv_lora_rank = 512;
       }},
      {"dropout is a probability below 1",
       [](Q& q) { q.workload.model.dropout = 1; }},
      {"loss chunk needs a chunked loss",
       [](Q& q) {
         q.workload.loss_impl = LossImpl::kFused;
         q.workload.loss_chunk = 1024;
       }},
      {"learned positions reach the sequence",
       [](Q& q) {
         q.workload.model.positions = PositionKind::kLearned;
         q.workload.model.max_positions = 4095;
       }},
      {"dp is a size", [](Q& q) { q.config.dp = 0; }},
      {"tp is a size", [](Q& q) { q.config.tp = kNoCount; }},
      {"pp is a size", [](Q& q) { q.config.pp = -4; }},
      {"cp is a size", [](Q& q) { q.config.cp = 0; }},
      {"vpp is a size", [](Q& q) { q.config.vpp = 0; }},
      {"ep is a size", [](Q& q) { q.config.ep = 0; }},
      {"etp is a size", [](Q& q) { q.config.etp = 0; }},
      {"micro-batch is a size", [](Q& q) { q.config.micro_batch = 0; }},
      {"grad accumulation is a size",
       [](Q& q) { q.config.grad_accumulation = 0; }},
      {"zero group is a size", [](Q& q) { q.config.zero_group = 0; }},
      {"context inner is a size", [](Q& q) { q.config.context_inner = 0; }},
      {"recompute layers is a size",
       [](Q& q) { q.config.recompute_layers = 0; }},
      {"stages hold no negative layers",
       [](Q& q) {
         q.config.stage_layers = {33, -1};
       }},
      {"devices are a size", [](Q& q) { q.devices = 0; }},
      {"sizes multiply to the devices", [](Q& q) { q.devices = 9; }},
      {"dp divides the global batch",
       [](Q& q) { q.workload.global_batch = 3; }},
      {"micro-batch divides the batch of a replica",
       [](Q& q) { q.config.micro_batch = 3; }},
      {"grad accumulation fits the batch",
       [](Q& q) {
         q.config.micro_batch = 2;
         q.config.grad_accumulation = 9;
       }},
      {"grad accumulation fits the batch",
       [](Q& q) { q.config.grad_accumulation = 3; }},
      {"tp divides heads", [](Q& q) { q.config.tp = 64; }},
      {"tp and kv heads divide one another",
       [](Q& q) {
         q.workload.model.heads = 24;
         q.workload.model.kv_heads = 3;
         q.config.tp = 2;
       }},
      {"tp divides the hidden width",
       [](Q& q) {
         q.workload.model.hidden = 4095;
         q.config.tp = 2;
       }},
      {"tp divides the mlp width",
       [](Q& q) {
         q.workload.model.ffn = 11007;
         q.config.tp = 2;
       }},
      {"tp divides the shared experts",
       [](Q& q) {
         q.workload.model.experts = 8;
         q.workload.model.top_k = 2;
         q.workload.model.shared_experts = 1;
         q.workload.model.shared_expert_ffn = 2049;
         q.config.tp = 2;
       }},
      {"sequence parallelism divides the sequence",
       [](Q& q) {
         q.workload.seq_len = 4095;
         q.config.tp = 2;
         q.config.sequence_parallel = YesNo::kYes;
       }},
      {"cp divides the sequence", [](Q& q) { q.config.cp = 3; }},
      {"twice cp divides the sequence",
       [](Q& q) {
         q.workload.seq_len = 4098;
         q.config.cp = 2;
         q.config.context_algorithm = ContextAlgorithm::kRing;
       }},
      {"ulysses divides the heads",
       [](Q& q) {
         q.config.cp = 64;
         q.config.context_algorithm = ContextAlgorithm::kUlysses;
       }},
      {"context inner divides cp",
       [](Q& q) {
         q.config.cp = 4;
         q.config.context_inner = 3;
         q.config.context_algorithm = ContextAlgorithm::kHybrid;
       }},
      {"ep needs experts", [](Q& q) { q.config.ep = 2; }},
      {"ep divides the experts",
       [](Q& q) {
         q.workload.model.experts = 9;
         q.workload.model.top_k = 2;
         q.config.ep = 2;
       }},
      {"etp divides the expert width",
       [](Q& q) {
         q.workload.model.experts = 8;
         q.workload.model.top_k = 2;
         q.workload.model.expert_ffn = 1025;
         q.config.etp = 2;
       }},
      {"expert groups divide the devices",
       [](Q& q) {
         q.workload.model.experts = 8;
         q.workload.model.top_k = 2;
         q.config.ep = 8;
       }},
      {"stage list has an entry a stage or chunk",
       [](Q& q) {
         q.config.stage_layers = {16, 8, 8};
       }},
      {"stage list sums to the layers",
       [](Q& q) {
         q.config.stage_layers = {16, 15};
       }},
      {"layers divide evenly by the stages",
       [](Q& q) {
         q.workload.model.layers = 31;
         q.config.placement = StagePlacement::kEven;
       }},
      {"layers of a stage divide into chunks",
       [](Q& q) {
         q.config.vpp = 3;
         q.config.placement = StagePlacement::kEven;
       }},
      {"layers of a stage divide into chunks",
       [](Q& q) {
         q.config.vpp = 2;
         q.config.stage_layers = {17, 15};
       }},
      {"every stage holds a part of the network",
       [](Q& q) {
         q.workload.model.layers = 1;
         q.config.placement = StagePlacement::kRemainderFirst;
       }},
      {"virtual stages need a pipeline",
       [](Q& q) {
         q.config.pp = 1;
         q.config.vpp = 2;
       }},
      {"interleaving needs virtual stages",
       [](Q& q) { q.config.schedule = Schedule::kInterleaved1F1B; }},
      {"virtual stages fit the schedule",
       [](Q& q) {
         q.config.vpp = 2;
         q.config.schedule = Schedule::k1F1B;
       }},
      {"virtual stages fit the schedule",
       [](Q& q) {
         q.config.vpp = 4;
         q.config.schedule = Schedule::kZeroBubbleV;
       }},
      {"interleaving has a micro-batch for each stage",
       [](Q& q) {
         q.config.vpp = 2;
         q.config.micro_batch = 16;
       }},
      {"micro-batch group fills the pipeline",
       [](Q& q) {
         // 16 micro-batches in groups of 5 leave 1 for 2 stages.
         q.config.vpp = 2;
         q.config.micro_batch = 1;
         q.config.micro_batch_group = 5;
       }},
      {"dualpipe has an even number of stages",
       [](Q& q) {
         q.workload.model.layers = 30;
         q.config.pp = 3;
         q.config.schedule = Schedule::kDualPipe;
       }},
      {"bidirectional schedules have two micro-batches for each stage",
       [](Q& q) {
         q.config.micro_batch = 8;
         q.config.schedule = Schedule::kDualPipe;
       }},
      {"bidirectional schedules have two micro-batches for each stage",
       [](Q& q) {
         q.workload.global_batch = 10;  // 5 micro-batches, for 2 stages
         q.config.micro_batch = 1;
         q.config.schedule = Schedule::kDualPipe;
       }},
      {"bidirectional and V-shaped schedules have even layers on a rank",
       [](Q& q) {
         q.workload.model.layers = 30;
         q.config.schedule = Schedule::kZeroBubbleV;
       }},
      {"bidirectional and V-shaped schedules have even layers on a rank",
       [](Q& q) {
         q.config.stage_layers = {17, 15};
         q.config.schedule = Schedule::kDualPipe;
       }},
      {"rank order names each parallelism once",
       [](Q& q) { q.config.rank_order = "tp-cp-ep-dp-dp"; }},
      {"zero group divides the data-parallel ranks",
       [](Q& q) { q.config.zero_group = 3; }},
      {"zero group needs a ZeRO stage",
       [](Q& q) {
         q.config.zero = ZeroStage::kNone;
         q.config.zero_group = 2;
       }},
      {"recompute layers need layer recomputation",
       [](Q& q) {
         q.config.recompute = Recompute::kSelective;
         q.config.recompute_layers = 4;
       }},
      {"recompute method needs layer recomputation",
       [](Q& q) {
         q.config.recompute = Recompute::kNone;
         q.config.recompute_method = RecomputeMethod::kBlock;
       }},
      {"full recomputation has no blocks",
       [](Q& q) {
         q.config.recompute = Recompute::kFull;
         q.config.recompute_method = RecomputeMethod::kBlock;
         q.config.recompute_layers = 4;
       }},
      {"recompute layers are within the model",
       [](Q& q) {
         q.config.recompute = Recompute::kLayers;
         q.config.recompute_layers = 33;
       }},
      {"recompute modules need selective recomputation",
       [](Q& q) {
         q.config.recompute = Recompute::kFull;
         q.config.recompute_modules = "norm";
       }},
      {"recompute modules are known",
       [](Q& q) {
         q.config.recompute = Recompute::kSelective;
         q.config.recompute_modules = "norm-mpl";
       }},
  };
  return cases;
}

// Legal: 2 replicas of 2 stages, 32 sequences, 32 layers.
Question LegalQuestion() {
  Question q = Ask(Llama2_7B(), 4096, 32);
  q.config.dp = 2;
  q.config.pp = 2;
  return q;
}

TEST_CASE("every rule can be broken alone") {
  CHECK(RulesBroken(LegalQuestion()).empty());
  for (const RuleCase& rule_case : RuleCases()) {
    Question q = LegalQuestion();
    rule_case.spoil(q);
    const std::vector<std::string> broken = RulesBroken(q);
    INFO(rule_case.rule);
    CHECK(broken == std::vector<std::string>{rule_case.rule});
    for (const Violation& v : FindViolations(q.workload, q.config, q.devices)) {
      CHECK_FALSE(v.message.empty());
    }
  }
}

TEST_CASE("every rule has a case, and a name of its own") {
  std::set<std::string> covered;
  for (const RuleCase& rule_case : RuleCases()) covered.insert(rule_case.rule);
  std::set<std::string> names;
  for (absl::Span<const legality::Rule> table :
       {legality::WorkloadRules(), legality::SizeRules(),
        legality::DivisionRules(), legality::TensorRules(),
        legality::ExpertRules(), legality::PipelineRules(),
        legality::StateRules()}) {
    for (const legality::Rule& rule : table) {
      INFO(rule.name);
      CHECK(names.insert(rule.name).second);
      CHECK(covered.count(rule.name) == 1);
    }
  }
}

TEST_CASE("the status names every broken rule and a legal configuration") {
  Question q = LegalQuestion();
  q.config.tp = 3;
  q.config.ep = 2;
  const absl::Status status = CheckLegal(q.workload, q.config, 12);
  CHECK(absl::IsInvalidArgument(status));
  CHECK(absl::StrContains(status.message(), "tp divides heads: "));
  CHECK(absl::StrContains(status.message(), "ep needs experts: "));
  // TP 2 and 4 are equally far in doublings only from 2.83; 3 is nearer to 4,
  // which with 12 devices and 2 stages leaves no whole DP: TP 2, DP 3 does not
  // divide 32, so the stages move as well.
  const ParallelConfig nearest = *NearestLegal(q.workload, q.config, 12);
  CHECK(IsLegal(q.workload, nearest, 12));
  CHECK(absl::StrContains(status.message(), "nearest legal configuration: "));
}

TEST_CASE(
    "the nearest legal configuration moves what is broken and keeps the "
    "rest") {
  Question q = LegalQuestion();
  q.config.micro_batch = 3;
  q.config.recompute = Recompute::kSelective;
  ParallelConfig expected = q.config;
  expected.micro_batch = 2;
  CHECK(*NearestLegal(q.workload, q.config, 4) == expected);

  q = LegalQuestion();
  q.config.tp = 3;  // 8 devices: the nearest is TP 4, and DP follows
  q.config.zero = ZeroStage::kParameters;
  expected = q.config;
  expected.tp = 4;
  expected.dp = 1;
  CHECK(*NearestLegal(q.workload, q.config, 8) == expected);
}

TEST_CASE("an algorithm that fits no size gives way to the one division left") {
  // 7 devices: only the sequence divides by 7, and it is odd.
  Question q = Ask(DenseLayers(1), 4095, 32);
  q.config.cp = 7;
  q.config.context_algorithm = ContextAlgorithm::kRing;
  ParallelConfig expected = q.config;
  expected.context_algorithm = ContextAlgorithm::kNotStated;
  CHECK(*NearestLegal(q.workload, q.config, 7) == expected);
}

TEST_CASE("a legal configuration is returned unchanged") {
  const Question q = LegalQuestion();
  CHECK(*NearestLegal(q.workload, q.config, q.devices) == q.config);
}

TEST_CASE("where the workload itself is broken nothing is near") {
  Question q = LegalQuestion();
  q.workload.model.kv_heads = 5;
  const absl::Status status =
      NearestLegal(q.workload, q.config, q.devices).status();
  CHECK(absl::IsNotFound(status));
  CHECK(absl::StrContains(status.message(), "kv heads divide heads"));
}

TEST_CASE(
    "a number of devices that no division fits is not found, with the "
    "rule") {
  // 23 devices: neither heads, sequence nor batch divide by 23, and 23 stages
  // are too many for 8 layers.
  Question q = Ask(DenseLayers(8), 4096, 32);
  const absl::Status status = NearestLegal(q.workload, q.config, 23).status();
  CHECK(absl::IsNotFound(status));
  CHECK(absl::StrContains(status.message(), "23 devices"));
}

TEST_CASE("an offer is taken only by a field that can hold it") {
  Question q = LegalQuestion();
  CHECK(TakeOffer({"schedule", std::string("gpipe"), false}, -1, q.workload,
                  q.config)
            .ok());
  CHECK(q.config.schedule == Schedule::kGPipe);
  CHECK_FALSE(
      TakeOffer({"schedule", int64_t{1}, false}, -1, q.workload, q.config)
          .ok());
  CHECK_FALSE(
      TakeOffer({"colour", int64_t{1}, false}, -1, q.workload, q.config).ok());
  CHECK_FALSE(
      TakeOffer({"tp", int64_t{3}, true}, 8, q.workload, q.config).ok());
}

}  // namespace
}  // namespace lmsimbench
