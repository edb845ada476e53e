#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "lib/profile/csv_reader.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/calculon.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

// One line of what the real Calculon said of the measurements.
struct GoldenAnswer {
  std::string predicted_ms;
  std::string predicted_mem_gib;
  std::string verdict;
};

std::map<std::string, GoldenAnswer> ReadGolden() {
  const auto rows =
      ReadCsv(GoldenPath("calculon/predictions_on_measurements.csv"));
  REQUIRE(rows.ok());
  std::map<std::string, GoldenAnswer> answers;
  for (size_t i = 1; i < rows->size(); ++i) {
    const CsvRow& row = (*rows)[i];
    answers[row[0].text] = {row[1].text, row[2].text, row[3].text};
  }
  return answers;
}

std::vector<MeasuredRun> AllRuns(const Bundle& bundle) {
  auto runs = ReadRuns(bundle);
  REQUIRE(runs.ok());
  auto failed = ReadFailedRuns(bundle);
  REQUIRE(failed.ok());
  runs->insert(runs->end(), failed->begin(), failed->end());
  return *std::move(runs);
}

// True if `value`, rounded to this many significant digits, is what `text`
// says: half a unit of the last digit either way.
bool PrintsAs(double value, const std::string& text, int significant) {
  const double expected = std::stod(text);
  const double unit = std::pow(
      10.0, std::floor(std::log10(std::fabs(expected))) - (significant - 1));
  return std::fabs(value - expected) <= unit * 0.5000001;
}

// The kinds of refusal that the golden file knows, as our messages begin.
bool IsSameRefusal(const std::string& golden, const std::string& message) {
  const struct {
    const char* golden;
    const char* message;
  } kinds[] = {
      {"unsupported: no system file for ", "Calculon has no description of "},
      {"unsupported: layers not in the row", "layers not stated"},
      {"unsupported: heads not in the row", "heads not stated"},
      {"unsupported: mixture of experts", "mixture of experts"},
      {"unsupported: fp32 not in system file",
       "precision fp32 is not in the description"},
  };
  for (const auto& kind : kinds) {
    if (golden.rfind(kind.golden, 0) == 0) {
      return message.rfind(kind.message, 0) == 0;
    }
  }
  return false;
}

TEST_CASE("the real Calculon's answers on the measurements are reproduced") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto golden = ReadGolden();
  REQUIRE(golden.size() == 4186);
  const auto calculon = MakeCalculon();

  size_t compared = 0;
  size_t answered = 0;
  for (const MeasuredRun& run : AllRuns(*bundle)) {
    const auto found = golden.find(run.record_id);
    if (found == golden.end()) continue;
    ++compared;
    const GoldenAnswer& expected = found->second;
    INFO(run.record_id);
    auto system = FindPlatform(*bundle, run.platform);
    REQUIRE(system.ok());
    system->devices = run.devices;
    const auto prediction =
        calculon->Predict(run.workload, *system, run.config);
    if (expected.predicted_ms.empty()) {
      REQUIRE_FALSE(prediction.ok());
      INFO(expected.verdict << " / " << prediction.status().message());
      CHECK(IsRefusal(prediction.status()));
      CHECK(IsSameRefusal(expected.verdict,
                          std::string(prediction.status().message())));
      continue;
    }
    ++answered;
    INFO(prediction.status().message());
    REQUIRE(prediction.ok());
    // The file prints six digits of the time and five of the memory.
    const double gib = 1024.0 * 1024 * 1024;
    INFO(prediction->iteration_time_s * 1e3 << " ms, expected "
                                            << expected.predicted_ms);
    INFO(prediction->peak_memory_bytes / gib << " GiB, expected "
                                             << expected.predicted_mem_gib);
    CHECK(
        PrintsAs(prediction->iteration_time_s * 1e3, expected.predicted_ms, 6));
    CHECK(PrintsAs(prediction->peak_memory_bytes / gib,
                   expected.predicted_mem_gib, 5));
    CHECK(Name(prediction->verdict) ==
          (expected.verdict == "fits" ? "fits" : "does not fit"));
  }
  // Every row of the file is a row of the bundle.
  CHECK(compared == golden.size());
  CHECK(answered == 4115);
}

struct Question {
  Workload workload;
  System system;
  ParallelConfig config;
};

// A plain GPT on eight A100: nothing to adapt.
Question PlainQuestion() {
  Question question;
  ModelSpec& model = question.workload.model;
  model.hidden = 4096;
  model.layers = 32;
  model.heads = 32;
  model.kv_heads = 32;
  model.ffn = 16384;
  model.gated_mlp = YesNo::kNo;
  question.workload.seq_len = 2048;
  question.workload.global_batch = 64;
  question.workload.precision = Precision::kBf16;
  question.system.name = "a100-sxm4-80g";
  question.config.tp = 8;
  question.config.micro_batch = 1;
  question.config.recompute = Recompute::kNone;
  return question;
}

absl::StatusOr<Prediction> Ask(const Simulator& simulator,
                               const Question& question) {
  return simulator.Predict(question.workload, question.system, question.config);
}

TEST_CASE("the parts of a Calculon answer sum to its totals") {
  const auto prediction = Ask(*MakeCalculon(), PlainQuestion());
  REQUIRE(prediction.ok());
  CHECK(prediction->adaptations.empty());
  double time = 0;
  TimeParts::VisitFields(
      [&time](const char*, double part) {
        if (IsStated(part)) time += part;
      },
      prediction->time);
  CHECK(time == Approx(prediction->iteration_time_s).epsilon(1e-12));
  double memory = 0;
  MemoryParts::VisitFields(
      [&memory](const char*, double part) {
        if (IsStated(part)) memory += part;
      },
      prediction->memory);
  CHECK(memory == Approx(prediction->peak_memory_bytes).epsilon(1e-12));
}

TEST_CASE("what Calculon is not asked about stays unanswered, not zero") {
  const auto prediction = Ask(*MakeCalculon(), PlainQuestion());
  REQUIRE(prediction.ok());
  CHECK_FALSE(IsStated(prediction->time.expert_communication_s));
  CHECK_FALSE(IsStated(prediction->memory.logits_bytes));
}

TEST_CASE("a strict Calculon refuses each adaptation and names it") {
  const auto strict = MakeCalculon(CalculonAdaptations::Strict());
  CHECK(Ask(*strict, PlainQuestion()).ok());

  const auto refusal = [&strict](const Question& question) {
    const auto prediction = Ask(*strict, question);
    CHECK(IsRefusal(prediction.status()));
    return std::string(prediction.status().message());
  };
  Question question = PlainQuestion();
  question.workload.model.gated_mlp = YesNo::kYes;
  CHECK_THAT(refusal(question), Catch::Contains("gated MLP"));
  question = PlainQuestion();
  question.workload.model.kv_heads = 8;
  CHECK_THAT(refusal(question), Catch::Contains("GQA as MHA"));
  question = PlainQuestion();
  question.workload.attention_impl = AttentionImpl::kFlash;
  CHECK_THAT(refusal(question), Catch::Contains("FlashAttention"));
  question = PlainQuestion();
  question.config.zero = ZeroStage::kParameters;
  CHECK_THAT(refusal(question), Catch::Contains("ZeRO-3"));
  question = PlainQuestion();
  question.config.recompute = Recompute::kNotStated;
  CHECK_THAT(refusal(question), Catch::Contains("recompute not stated"));
  question = PlainQuestion();
  question.config.micro_batch = kNoCount;
  CHECK_THAT(refusal(question), Catch::Contains("micro-batch"));
}

TEST_CASE("Calculon refuses what it does not know, by name") {
  const auto calculon = MakeCalculon();
  const auto refusal = [&calculon](const Question& question) {
    const auto prediction = Ask(*calculon, question);
    CHECK(IsRefusal(prediction.status()));
    return std::string(prediction.status().message());
  };
  Question question = PlainQuestion();
  question.config.cp = 2;
  CHECK_THAT(refusal(question), Catch::Contains("context parallelism of 2"));
  question = PlainQuestion();
  question.workload.model.attention = AttentionKind::kLatent;
  CHECK_THAT(refusal(question), Catch::Contains("latent attention"));
  for (const Schedule schedule :
       {Schedule::kZeroBubbleH1, Schedule::kZeroBubbleH2,
        Schedule::kZeroBubbleV, Schedule::kDualPipe, Schedule::kDualPipeV}) {
    question = PlainQuestion();
    question.config.schedule = schedule;
    CHECK_THAT(refusal(question),
               Catch::Contains("schedule " + std::string(Name(schedule))));
  }
  question = PlainQuestion();
  question.workload.precision = Precision::kFp8;
  CHECK_THAT(refusal(question),
             Catch::Contains("precision fp8 is not in the description"));
  question = PlainQuestion();
  question.config.recompute = Recompute::kLayers;
  CHECK_THAT(refusal(question), Catch::Contains("layers"));
  question = PlainQuestion();
  question.config.tp = 0;
  CHECK_THAT(refusal(question), Catch::Contains("tp is 0"));
  question = PlainQuestion();
  question.workload.global_batch = 63;
  question.config.dp = 2;
  CHECK_THAT(refusal(question), Catch::Contains("EXE_BATCH_DIV_DP"));
}

TEST_CASE("an A100 of 40 GB has the time of one of 80 GB and its own verdict") {
  const auto calculon = MakeCalculon();
  Question question = PlainQuestion();
  // 32 x 12 x 4096^2 parameters on one device, at 16 bytes each: 96 GiB.
  question.config.tp = 2;
  question.config.micro_batch = 4;
  const auto large = Ask(*calculon, question);
  question.system.name = "a100-sxm4-40g";
  const auto small = Ask(*calculon, question);
  REQUIRE(large.ok());
  REQUIRE(small.ok());
  CHECK(small->iteration_time_s == large->iteration_time_s);
  CHECK(small->peak_memory_bytes == large->peak_memory_bytes);
  CHECK(small->verdict == Verdict::kDoesNotFit);
}

TEST_CASE("a described system needs its peaks and bandwidths and says which") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto described = MakeCalculonDescribed(*bundle);
  REQUIRE(described.ok());
  Question question = PlainQuestion();
  question.system = *FindPlatform(*bundle, "b200-sxm-180g");
  REQUIRE(Ask(**described, question).ok());

  const auto refusal = [&](double Accelerator::*figure) {
    Question lacking = question;
    lacking.system.accelerator.*figure = kNoNumber;
    const auto prediction = Ask(**described, lacking);
    CHECK(prediction.status().code() == absl::StatusCode::kFailedPrecondition);
    return std::string(prediction.status().message());
  };
  CHECK_THAT(refusal(&Accelerator::memory_bandwidth),
             Catch::Contains("memory bandwidth"));
  CHECK_THAT(refusal(&Accelerator::memory_bytes),
             Catch::Contains("memory capacity"));
  Question lacking = question;
  lacking.system.accelerator.bf16_flops = kNoNumber;
  lacking.system.accelerator.fp16_flops = kNoNumber;
  CHECK_THAT(std::string(Ask(**described, lacking).status().message()),
             Catch::Contains("16-bit peak"));
  lacking = question;
  lacking.system.network[0].bandwidth = kNoNumber;
  CHECK_THAT(std::string(Ask(**described, lacking).status().message()),
             Catch::Contains("bandwidth within a node"));
}

TEST_CASE("a described system without kernels names the defaults it rests on") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto described = MakeCalculonDescribed(*bundle);
  REQUIRE(described.ok());
  Question question = PlainQuestion();
  question.system = *FindPlatform(*bundle, "b200-sxm-180g");
  const auto measured = Ask(**described, question);
  REQUIRE(measured.ok());
  question.system.name = "accelerator-of-next-year";
  const auto unmeasured = Ask(**described, question);
  REQUIRE(unmeasured.ok());
  CHECK(unmeasured->adaptations.size() > measured->adaptations.size());
  CHECK(unmeasured->adaptations[0] ==
        "default matrix efficiency in 5 of 5 size steps");
  CHECK(unmeasured->iteration_time_s < measured->iteration_time_s);
}

}  // namespace
}  // namespace lmsimbench
