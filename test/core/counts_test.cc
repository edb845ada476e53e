#include "lmsimbench/counts.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "test/core/model_examples.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

int64_t Total(const ModelSpec& model) { return CountParameters(model)->total; }

// Published totals of the models' weight files.
TEST_CASE("dense models have the parameters that they are published with") {
  CHECK(Total(Llama2_7B()) == 6'738'415'616);
  CHECK(Total(Llama3_8B()) == 8'030'261'248);
  CHECK(Total(Llama3_70B()) == 70'553'706'496);
}

TEST_CASE("biases, learned positions and layer norms are counted") {
  // 50257 * 768 + 1024 * 768 = 39,383,808; a layer: 12 * 768^2 = 7,077,888 of
  // matrices, 4 * 768 + 5 * 768 = 6,912 of biases, 4 * 768 = 3,072 of norms;
  // final norm 1,536. The weight file of GPT-2 holds 124,439,808.
  const ParameterCount count = *CountParameters(Gpt2Small());
  CHECK(count.embedding == 39'383'808);
  CHECK(count.attention + count.dense_mlp == 12 * 7'077'888);
  CHECK(count.norms_and_biases == 12 * (6'912 + 3'072) + 1'536);
  CHECK(count.output == 0);
  CHECK(count.total == 124'439'808);
  CHECK(count.active == count.total);
}

TEST_CASE("a head may be wider than its share, with four norms a layer") {
  // Gemma-2-9B's weight file: 9,241,100,288 of matrices (tied) and
  // 42 * 4 * 3584 + 3584 of norms.
  CHECK(Total(Gemma2_9B()) == 9'241'705'984);
}

TEST_CASE("experts count as a whole, and active only those a token visits") {
  // A layer of Qwen3-30B-A3B: attention 2 * 2048 * (32 + 4) * 128 = 18,874,368;
  // router 2048 * 128; experts 128 * 3 * 2048 * 768 = 603,979,776; norms
  // 2 * 2048 + 2 * 128. Embedding and output 151936 * 2048 each.
  const ParameterCount count = *CountParameters(Qwen3_30B_A3B());
  CHECK(count.attention == 48 * 18'874'368LL);
  CHECK(count.router == 48 * 262'144LL);
  CHECK(count.routed_experts == 48 * 603'979'776LL);
  CHECK(count.dense_mlp == 0);
  CHECK(count.norms_and_biases == 48 * 4'352 + 2'048);
  CHECK(count.total == 30'532'122'624);
  // 120 of 128 experts idle: 30,532,122,624 - 48 * 120 * 4,718,592.
  CHECK(count.active == 3'353'032'704);
}

TEST_CASE("latent attention without compressed queries, with shared experts") {
  // A layer of DeepSeek-V2-Lite: queries 2048 * 16 * 192 = 6,291,456; keys and
  // values 512 * (2048 + 16 * 256) + 2048 * 64 = 3,276,800; output
  // 16 * 128 * 2048 = 4,194,304; norm 512. The published weight file holds
  // 15,706,484,224.
  const ParameterCount count = *CountParameters(DeepSeekV2Lite());
  CHECK(count.attention == 27 * 13'762'560LL);
  CHECK(count.shared_experts == 26 * 2 * 3 * 2048 * 1408LL);
  CHECK(count.dense_mlp == 3 * 2048 * 10944LL);
  CHECK(count.total == 15'706'484'224);
}

TEST_CASE("DeepSeek-V3 has 671 billion parameters, 37 of them active") {
  // Attention of a layer: queries 1536 * (7168 + 128 * 192) = 48,758,784; keys
  // and values 512 * (7168 + 128 * 256) + 7168 * 64 = 20,905,984; output
  // 128 * 128 * 7168 = 117,440,512. Experts of a layer: 257 * 3 * 7168 * 2048,
  // router 7168 * 256; 3 dense layers of 3 * 7168 * 18432; norms
  // 2 * 7168 + 1536 + 512 a layer and 7168; embedding and output 129280 * 7168.
  const int64_t attention = 48'758'784 + 20'905'984 + 117'440'512;
  const int64_t sparse = 257LL * 3 * 7168 * 2048 + 7168 * 256;
  const int64_t total = 61 * (attention + 2 * 7168 + 1536 + 512) + 58 * sparse +
                        3 * 3 * 7168 * 18432LL + 2 * 129280 * 7168LL + 7168;
  const ParameterCount count = *CountParameters(DeepSeekV3());
  CHECK(count.total == total);
  CHECK(count.total / 1'000'000'000 == 671);
  CHECK(count.active == total - 58 * 248LL * 3 * 7168 * 2048);
  CHECK(count.active / 100'000'000 == 375);
}

TEST_CASE("a multi-token layer is a layer, a projection and three norms") {
  // DeepSeek-V3's own account: 11.5 billion parameters beside embedding and
  // output, which the model shares.
  ModelSpec model = DeepSeekV3();
  const int64_t without = Total(model);
  model.mtp_layers = 1;
  const ParameterCount count = *CountParameters(model);
  CHECK(count.multi_token == count.total - without);
  const int64_t attention = 48'758'784 + 20'905'984 + 117'440'512;
  CHECK(count.multi_token == attention + 257LL * 3 * 7168 * 2048 + 7168 * 256 +
                                 2 * 7168 + 1536 + 512 + 2 * 7168 * 7168LL +
                                 3 * 7168);
  CHECK(count.multi_token / 100'000'000 == 116);
}

TEST_CASE("experts and the router have biases where the linear layers do") {
  // The weight file of gpt-oss-20b holds 20,914,757,184, of which 24 * 64 are
  // attention sinks, which no field describes.
  CHECK(Total(GptOss20B()) == 20'914'757'184 - 24 * 64);
}

// The figures and their origin: test/golden/README.md.
TEST_CASE("matrices of the models of the measured tables") {
  std::istringstream table(ReadFile(GoldenPath("core/model_parameters.csv")));
  std::string line;
  std::getline(table, line);
  int models = 0;
  while (std::getline(table, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    REQUIRE(cells.size() == 14);
    const auto number = [&cells](size_t i) { return std::stoll(cells[i]); };
    ModelSpec model = DenseGated(cells[0].c_str(), number(1), number(2),
                                 number(3), number(4), number(6), number(7));
    model.head_dim = number(5);
    model.tied_embeddings = number(8) == 1 ? YesNo::kYes : YesNo::kNo;
    model.experts = number(9);
    model.top_k = number(10);
    model.expert_ffn = number(11);
    ParameterConvention matrices;
    matrices.norms_and_biases = false;
    const ParameterCount count = *CountParameters(model, matrices);
    INFO(model.name);
    CHECK(count.norms_and_biases == 0);
    CHECK(count.total == number(12));
    CHECK(count.active == number(13));
    ++models;
  }
  CHECK(models == 27);
}

TEST_CASE("the parts sum to the total") {
  ModelSpec v3 = DeepSeekV3();
  v3.mtp_layers = 2;
  for (const ModelSpec& model :
       {Gpt2Small(), Qwen3_30B_A3B(), v3, GptOss20B(), DeepSeekV2Lite()}) {
    const ParameterCount c = *CountParameters(model);
    CHECK(c.embedding + c.attention + c.dense_mlp + c.router +
              c.routed_experts + c.shared_experts + c.norms_and_biases +
              c.output + c.multi_token ==
          c.total);
  }
}

TEST_CASE("the vocabulary may be counted with its padding") {
  ParameterConvention padded;
  padded.vocab_multiple = 128;
  CHECK(CountParameters(Gpt2Small(), padded)->embedding ==
        (50304 + 1024) * 768);
  padded.vocab_multiple = 0;
  CHECK(absl::IsInvalidArgument(CountParameters(Gpt2Small(), padded).status()));
}

TEST_CASE("the first figure that is missing is named") {
  const auto missing = [](ModelSpec model) {
    const absl::Status status = CountParameters(model).status();
    CHECK(absl::IsFailedPrecondition(status));
    return std::string(status.message());
  };
  ModelSpec model = Llama2_7B();
  model.hidden = kNoCount;
  CHECK(missing(model) == "model 'llama-2-7b' does not state hidden");
  model = Llama2_7B();
  model.kv_heads = kNoCount;
  CHECK(missing(model) == "model 'llama-2-7b' does not state kv_heads");
  model.attention = AttentionKind::kMultiHead;  // as many as heads
  CHECK(Total(model) == 6'738'415'616);
  model = Llama2_7B();
  model.norm = NormKind::kNotStated;
  CHECK(missing(model) == "model 'llama-2-7b' does not state norm");
  model = DeepSeekV3();
  model.q_lora_rank = kNoCount;
  CHECK(missing(model) == "model 'deepseek-v3' does not state q_lora_rank");
  model = Gpt2Small();
  model.max_positions = kNoCount;
  CHECK(missing(model) == "model 'gpt-2' does not state max_positions");
}

TEST_CASE("more parameters than can be counted exactly are refused") {
  ModelSpec model = Llama2_7B();
  model.layers = INT64_MAX;
  model.hidden = INT64_MAX;
  CHECK(absl::IsOutOfRange(CountParameters(model).status()));
}

double Flops(const ModelSpec& model, int64_t seq_len,
             FlopConvention convention = {}) {
  Workload workload;
  workload.model = model;
  workload.seq_len = seq_len;
  return CountFlopsPerToken(workload, convention)->total;
}

// The rows "FLOPs" of the collected cases, to the last digit.
TEST_CASE("causal operations of a token") {
  CHECK(Flops(Llama2_7B(), 4096) == 42'863'689'728);
  CHECK(Flops(Llama3_8B(), 8192) == 51'470'401'536);
  CHECK(Flops(Llama3_70B(), 8192) == 449'222'541'312);
  CHECK(Flops(Gpt3_175B(), 2048) == 1'061'947'441'152);
  CHECK(Flops(Qwen3_30B_A3B(), 8192) == 27'838'119'936);
}

TEST_CASE("a full mask and the router are counted when asked for") {
  FlopConvention full;
  full.mask = FlopConvention::Mask::kFull;
  CHECK(Flops(Qwen3_30B_A3B(), 8192, full) == 37'501'796'352);
  full.router_and_norms = true;
  CHECK(Flops(Qwen3_30B_A3B(), 8192, full) == 37'578'559'488);
}

TEST_CASE("a gated MLP has three matrices of its own width") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 4096;
  CHECK(CountFlopsPerToken(workload)->mlp == 32 * 6.0 * 4096 * 11008 * 3);
  workload.model.gated_mlp = YesNo::kNo;
  CHECK(CountFlopsPerToken(workload)->mlp == 32 * 6.0 * 4096 * 11008 * 2);
}

TEST_CASE("the attention core of whole sequences, causal and full") {
  Workload workload;
  workload.model = Llama2_7B();
  workload.seq_len = 8192;
  const auto tera = [&workload](double sequences, FlopConvention::Mask mask) {
    return *AttentionCoreFlops(workload, sequences, mask) / 1e12;
  };
  // 6 * 4096 * 8192 operations a token and layer, 8192 tokens, 32 layers.
  CHECK(tera(1, FlopConvention::Mask::kCausal) == Approx(52.78).margin(0.005));
  CHECK(tera(1, FlopConvention::Mask::kFull) == Approx(105.55).margin(0.005));
  CHECK(tera(4, FlopConvention::Mask::kCausal) == Approx(211.11).margin(0.005));
  CHECK(tera(4, FlopConvention::Mask::kFull) == Approx(422.21).margin(0.005));
}

TEST_CASE("full recomputation runs the layers forward again, not the output") {
  // Narayanan et al. (arXiv 2104.04473): per token 96 L h^2 (1 + s/6h + V/16Lh)
  // with it and 72 L h^2 (1 + s/6h + V/12Lh) without, for a full mask.
  FlopConvention convention;
  convention.mask = FlopConvention::Mask::kFull;
  const ModelSpec model = Gpt3_175B();
  const double h = 12288;
  const double s = 2048;
  const double layers = 96;
  const double vocab = 51200;
  CHECK(Flops(model, 2048, convention) ==
        Approx(72 * layers * h * h *
               (1 + s / (6 * h) + vocab / (12 * layers * h)))
            .epsilon(1e-14));
  convention.full_recompute = true;
  CHECK(Flops(model, 2048, convention) ==
        Approx(96 * layers * h * h *
               (1 + s / (6 * h) + vocab / (16 * layers * h)))
            .epsilon(1e-14));
}

TEST_CASE("latent attention multiplies wide keys and narrow values") {
  // 6 * s * a * ((128 + 64) / 2 + 128 / 2) a layer.
  Workload workload;
  workload.model = DeepSeekV3();
  workload.seq_len = 4096;
  CHECK(CountFlopsPerToken(workload)->attention_core ==
        61 * 6.0 * 4096 * 128 * 160);
}

TEST_CASE("a multi-token layer adds a layer, a projection and an output") {
  Workload workload;
  workload.model = DeepSeekV3();
  workload.seq_len = 4096;
  const FlopCount without = *CountFlopsPerToken(workload);
  workload.model.mtp_layers = 1;
  const FlopCount with = *CountFlopsPerToken(workload);
  CHECK(with.output == 2 * without.output);
  CHECK(with.multi_token == 6.0 * 2 * 7168 * 7168);
  CHECK(with.attention_core * 61 == without.attention_core * 62);
  // The added layer has experts: 8 routed and 1 shared.
  CHECK(with.mlp - without.mlp == 6.0 * 9 * 3 * 7168 * 2048);
}

TEST_CASE("a sliding window limits the keys of its layers") {
  Workload workload;
  workload.model = Gemma2_9B();
  workload.seq_len = 8192;
  // 21 layers meet 8192 / 2 keys; 21 meet 4096 - 4096^2 / (2 * 8192) = 3072.
  CHECK(CountFlopsPerToken(workload)->attention_core ==
        6.0 * 16 * 512 * 21 * (4096 + 3072));
  // A sequence within the window is attended to as a whole.
  workload.seq_len = 4096;
  CHECK(CountFlopsPerToken(workload)->attention_core ==
        6.0 * 16 * 512 * 42 * 2048);
}

TEST_CASE("every convention has a line of its own") {
  FlopConvention convention;
  CHECK(Describe(convention) ==
        "6 operations per weight and token, causal attention, router and norms "
        "not counted, recomputation not counted");
  convention.mask = FlopConvention::Mask::kFull;
  convention.router_and_norms = true;
  convention.full_recompute = true;
  CHECK(Describe(convention) ==
        "6 operations per weight and token, full attention, router and norms "
        "counted, full recomputation counted");
}

TEST_CASE("operations need the sequence length") {
  Workload workload;
  workload.model = Llama2_7B();
  const absl::Status status = CountFlopsPerToken(workload).status();
  CHECK(absl::IsFailedPrecondition(status));
  CHECK(absl::StrContains(status.message(), "seq_len"));
}

}  // namespace
}  // namespace lmsimbench
