#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "lib/simulators/vtrain/kernel_source.h"
#include "lib/simulators/vtrain/read_config.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/simulators.h"
#include "lmsimbench/vtrain.h"
#include "test/simulators/vtrain_records.h"

namespace lmsimbench {
namespace {

constexpr double kGibi = 1073741824.0;

struct Question {
  Workload workload;
  System system;
  ParallelConfig config;
};

Question QuestionOf(const Bundle& bundle, const MeasuredRun& run) {
  auto system = FindPlatform(bundle, run.platform);
  REQUIRE(system.ok());
  system->devices = run.devices;
  return {run.workload, *system, run.config};
}

// A GPT that vTrain can express as it stands.
Question PlainQuestion() {
  Question question;
  ModelSpec& model = question.workload.model;
  model.hidden = 1024;
  model.layers = 8;
  model.heads = model.kv_heads = 16;
  model.ffn = 4096;
  model.gated_mlp = YesNo::kNo;
  model.vocab = 50257;
  question.workload.seq_len = 1024;
  question.workload.global_batch = 16;
  question.workload.precision = Precision::kFp16;
  question.system.name = "a100";
  question.system.accelerator.name = "A100 SXM4 80GB";
  question.system.network.resize(2);
  question.system.network[0].size = 8;
  question.system.network[0].bandwidth = 150 * kGibi;
  question.system.network[1].bandwidth = 800 * kGibi / 64;
  question.config.tp = 2;
  question.config.pp = 2;
  question.config.dp = 2;
  question.config.micro_batch = 2;
  question.config.recompute = Recompute::kFull;
  return question;
}

// Every operator takes this long; collectives are not answered.
class ConstantCosts final : public CostModel {
 public:
  explicit ConstantCosts(double seconds)
      : CostModel("constant"), seconds_(seconds) {}

 private:
  absl::Status DoOperatorCosts(const System&, absl::Span<const Operator>,
                               absl::Span<Cost> costs) const override {
    for (Cost& cost : costs) cost = {seconds_, Evidence::kMeasured};
    return absl::OkStatus();
  }
  double seconds_;
};

absl::StatusOr<Prediction> Ask(const Simulator& simulator,
                               const Question& question) {
  return simulator.Predict(question.workload, question.system, question.config);
}

std::unique_ptr<Simulator> Constant(const VtrainRepairs& repairs) {
  VtrainOptions options;
  options.repairs = repairs;
  auto made =
      MakeVtrain("constant", std::make_shared<ConstantCosts>(100e-6), options);
  REQUIRE(made.ok());
  return *std::move(made);
}

double Sum(const TimeParts& time) {
  return time.forward_s + time.backward_s + time.recompute_s +
         time.optimizer_s + time.tensor_communication_s +
         time.pipeline_communication_s + time.data_communication_s +
         time.bubble_s;
}

TEST_CASE("every run of vTrain's own measurements is answered") {
  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto runs = ReadRuns(*bundle);
  REQUIRE(runs.ok());
  for (const char* name : {"vtrain", "vtrain-repaired"}) {
    const auto simulator = MakeSimulator(name, *bundle);
    REQUIRE(simulator.ok());
    int answered = 0;
    for (const MeasuredRun& run : *runs) {
      if (run.source != "vtrain") continue;
      const auto prediction = Ask(**simulator, QuestionOf(*bundle, run));
      INFO(run.record_id << ": " << prediction.status().message());
      REQUIRE(prediction.ok());
      ++answered;
      CHECK(Sum(prediction->time) == Approx(prediction->iteration_time_s));
      const EvidenceShares& shares = prediction->evidence;
      CHECK(shares.measured + shares.interpolated + shares.extrapolated +
                shares.analytic ==
            Approx(1));
      for (const RankPrediction& rank : prediction->ranks) {
        CHECK(rank.compute_s + rank.exposed_communication_s + rank.bubble_s +
                  rank.idle_s ==
              Approx(prediction->iteration_time_s));
      }
    }
    CHECK(answered == 1213);
  }
}

TEST_CASE("one stage: the original does not see the micro-batch") {
  Question question = PlainQuestion();
  question.config.pp = 1;
  const auto original = Constant(VtrainRepairs::None());
  const auto repaired = Constant(VtrainRepairs::All());
  std::map<int64_t, double> times[2];
  for (const int64_t micro_batch : {1, 2, 4}) {
    question.config.micro_batch = micro_batch;
    const auto first = Ask(*original, question);
    const auto second = Ask(*repaired, question);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    times[0][micro_batch] = first->iteration_time_s;
    times[1][micro_batch] = second->iteration_time_s;
  }
  CHECK(times[0][1] == times[0][4]);
  // Kernels of the same length, twice as many.
  CHECK(times[1][1] > 1.9 * times[1][2]);
}

TEST_CASE("what vTrain cannot express is refused by name") {
  VtrainRepairs repairs = VtrainRepairs::All();
  repairs.model_other_devices = false;
  const auto simulator = Constant(repairs);
  const struct {
    const char* words;
    void (*change)(Question&);
  } refusals[] = {
      {"mixture of experts", [](Question& q) { q.workload.model.experts = 8; }},
      {"context parallelism of 2", [](Question& q) { q.config.cp = 2; }},
      {"expert parallelism of 2", [](Question& q) { q.config.ep = 2; }},
      {"ZeRO (1) over 2",
       [](Question& q) { q.config.zero = ZeroStage::kOptimizerState; }},
      {"ZeRO (3) over 2",
       [](Question& q) { q.config.zero = ZeroStage::kParameters; }},
      {"2 virtual stages", [](Question& q) { q.config.vpp = 2; }},
      {"schedule gpipe",
       [](Question& q) { q.config.schedule = Schedule::kGPipe; }},
      {"schedule zb-h1",
       [](Question& q) { q.config.schedule = Schedule::kZeroBubbleH1; }},
      {"schedule zb-v",
       [](Question& q) { q.config.schedule = Schedule::kZeroBubbleV; }},
      {"schedule dualpipe",
       [](Question& q) { q.config.schedule = Schedule::kDualPipe; }},
      {"latent attention",
       [](Question& q) {
         q.workload.model.attention = AttentionKind::kLatent;
       }},
      {"recomputation of single layers",
       [](Question& q) { q.config.recompute = Recompute::kLayers; }},
      {"no all-reduce tables of h100",
       [](Question& q) {
         q.system.name = "h100";
         q.system.accelerator.name = "H100 SXM5 80GB";
       }},
      {"num_layers 9 is not divisible by pipeline_parallel_size 2",
       [](Question& q) { q.workload.model.layers = 9; }},
      {"stages of different sizes",
       [](Question& q) {
         q.config.stage_layers = {5, 3};
       }},
      {"num_attention_heads 16 is not divisible by tensor_parallel_size 3",
       [](Question& q) { q.config.tp = 3; }},
      {"layers not stated",
       [](Question& q) { q.workload.model.layers = kNoCount; }},
      {"the system has 4", [](Question& q) { q.system.devices = 4; }},
  };
  REQUIRE(Ask(*simulator, PlainQuestion()).ok());
  for (const auto& refusal : refusals) {
    Question question = PlainQuestion();
    refusal.change(question);
    const auto prediction = Ask(*simulator, question);
    INFO(refusal.words << " / " << prediction.status().message());
    CHECK(IsRefusal(prediction.status()));
    CHECK_THAT(std::string(prediction.status().message()),
               Catch::Contains(refusal.words));
  }
}

TEST_CASE(
    "other accelerators are asked of the cost model, if that is repaired") {
  Question question = PlainQuestion();
  question.system.name = "h100";
  question.system.accelerator.name = "H100 SXM5 80GB";
  VtrainRepairs repairs;
  CHECK(absl::IsUnimplemented(Ask(*Constant(repairs), question).status()));
  repairs.model_other_devices = true;
  // This one answers operators alone.
  const auto refused = Ask(*Constant(repairs), question);
  CHECK(absl::IsUnimplemented(refused.status()));
  CHECK_THAT(std::string(refused.status().message()),
             Catch::Contains("cost model 'constant' does not answer"));
  question.config.tp = question.config.dp = question.config.pp = 1;
  CHECK(Ask(*Constant(repairs), question).ok());

  const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  const auto repaired = MakeSimulator("vtrain-repaired", *bundle);
  REQUIRE(repaired.ok());
  auto system = FindPlatform(*bundle, "h100-sxm5-80g");
  REQUIRE(system.ok());
  question = PlainQuestion();
  question.system = *system;
  // Stages of 16: every kind of group leaves the node but the tensor group.
  question.config.tp = 8;
  const auto prediction = Ask(**repaired, question);
  INFO(prediction.status().message());
  REQUIRE(prediction.ok());
  CHECK(prediction->time.tensor_communication_s > 0);
  CHECK(prediction->time.pipeline_communication_s > 0);
  bool named = false;
  for (const std::string& adaptation : prediction->adaptations) {
    named |=
        adaptation.find("communication of the cost model") != std::string::npos;
  }
  CHECK(named);
}

TEST_CASE("absurd sizes are refused, not computed") {
  const auto simulator = Constant(VtrainRepairs::All());
  void (*const changes[])(Question&) = {
      [](Question& q) { q.workload.model.hidden = int64_t{1} << 31; },
      [](Question& q) { q.workload.model.layers = int64_t{1} << 40; },
      [](Question& q) { q.config.dp = int64_t{1} << 30; },
      [](Question& q) { q.config.pp = int64_t{1} << 28; },
      [](Question& q) { q.workload.global_batch = int64_t{1} << 31; },
      [](Question& q) { q.config.tp = 0; },
      [](Question& q) { q.config.micro_batch = 0; },
  };
  for (const auto change : changes) {
    Question question = PlainQuestion();
    change(question);
    CHECK_FALSE(Ask(*simulator, question).ok());
  }
}

TEST_CASE("composed kernels are those that the profile would hold") {
  const Question question = PlainQuestion();
  vtrain::Config config;
  config.tensor_parallel = 2;
  config.micro_batch = 2;
  vtrain::ComposeWorkspace workspace;
  vtrain::SourcedKernels kernels;
  // Operators of 30 us, started every 70: the device waits 40 in between.
  REQUIRE(vtrain::ComposeKernels(question.workload, question.system, config,
                                 ConstantCosts(30e-6), 70e-6, workspace,
                                 kernels)
              .ok());
  using vtrain::LayerPass;
  for (const LayerPass pass :
       {LayerPass::kFwdEmbeddings, LayerPass::kFwdTransformer,
        LayerPass::kFwdLogit, LayerPass::kFwdLoss, LayerPass::kBwdEmbeddings,
        LayerPass::kBwdTransformer, LayerPass::kBwdLogit,
        LayerPass::kWuEmbeddings, LayerPass::kWuTransformer}) {
    INFO(vtrain::PassName(pass));
    REQUIRE_FALSE(kernels.table[pass].empty());
    CHECK(kernels.table[pass][0].duration_ns == Approx(30e3));
    CHECK(kernels.table[pass][0].gap_ns == Approx(40e3));
  }
  CHECK(kernels.table[LayerPass::kWuLogit].empty());
  // The output layer: one product forward, two backward; one fused loss.
  CHECK(kernels.table[LayerPass::kFwdLogit].size() == 1);
  CHECK(kernels.table[LayerPass::kBwdLogit].size() == 2);
  CHECK(kernels.table[LayerPass::kFwdLoss].size() == 1);
}

TEST_CASE("published latencies answer what was published, marked as derived") {
  VtrainOptions options;
  options.kernels = VtrainKernels::kPublishedLatencies;
  const auto simulator = MakeVtrain("published", nullptr, options);
  REQUIRE(simulator.ok());
  Question question = PlainQuestion();
  question.config.tp = 4;
  question.config.micro_batch = 1;
  const auto prediction = Ask(**simulator, question);
  INFO(prediction.status().message());
  REQUIRE(prediction.ok());
  bool derived = false;
  for (const std::string& adaptation : prediction->adaptations) {
    derived |= adaptation.find("derived") != std::string::npos;
  }
  CHECK(derived);
  question.config.micro_batch = 2;
  const auto refused = Ask(**simulator, question);
  CHECK(absl::IsFailedPrecondition(refused.status()));
  CHECK_THAT(std::string(refused.status().message()),
             Catch::Contains("micro-batch 2"));
}

// A golden record as a question.
Question QuestionOf(const vtrain::Config& config) {
  Question question = PlainQuestion();
  ModelSpec& model = question.workload.model;
  model.hidden = config.hidden;
  model.layers = config.num_layers;
  model.heads = model.kv_heads = config.num_heads;
  model.ffn = 4 * config.hidden;
  model.vocab = config.vocab;
  question.workload.seq_len = config.max_length;
  question.workload.global_batch = config.global_batch;
  System& system = question.system;
  if (config.gpu_name != "A100" && config.gpu_name != "a100") {
    system.accelerator.name = "Tesla V100 SXM2 32GB";
  }
  system.network[0].size = config.node_size;
  system.network[0].bandwidth = config.intra_node_bandwidth * kGibi;
  system.network[1].bandwidth = config.inter_node_bandwidth * kGibi / 8 /
                                static_cast<double>(config.node_size);
  ParallelConfig& parallel = question.config;
  parallel.tp = *config.tensor_parallel;
  parallel.dp = *config.data_parallel;
  parallel.pp = *config.pipeline_parallel;
  parallel.micro_batch = *config.micro_batch;
  parallel.recompute =
      config.use_checkpoint ? Recompute::kFull : Recompute::kNone;
  return question;
}

TEST_CASE("a trace file gives the golden answer through the interface") {
  std::vector<std::string> lines;
  REQUIRE(vtrain::ReadLines(vtrain::GoldenRecordsPath(), lines));
  int compared = 0;
  for (const std::string& line : lines) {
    const vtrain::Json record = vtrain::Json::parse(line);
    if (!record.contains("trace")) continue;
    vtrain::Config config;
    REQUIRE(vtrain::ReadConfig(record["config"], config).ok());
    REQUIRE(vtrain::Resolve(VtrainRepairs::None(), config).ok());
    VtrainOptions options;
    options.kernels = VtrainKernels::kTrace;
    options.trace.file = record["id"].get<std::string>();
    options.trace.text = record["trace"].get<std::string>();
    options.trace.hidden = config.hidden;
    options.trace.tp = *config.tensor_parallel;
    options.trace.micro_batch = *config.micro_batch;
    const auto simulator = MakeVtrain("traced", nullptr, options);
    REQUIRE(simulator.ok());
    Question question = QuestionOf(config);
    const auto prediction = Ask(**simulator, question);
    INFO(options.trace.file << ": " << prediction.status().message());
    REQUIRE(prediction.ok());
    const double expected =
        record["outputs"]["iteration_ns"].get<double>() * 1e-9;
    CHECK(std::fabs(prediction->iteration_time_s - expected) <=
          1e-12 * expected);
    ++compared;

    question.workload.model.hidden *= 2;
    const auto other = Ask(**simulator, question);
    CHECK(absl::IsFailedPrecondition(other.status()));
  }
  CHECK(compared == 16);
}

TEST_CASE("a trace is read from its file, and a bad one is named") {
  const std::string file = "vtrain_trace_16_1_2";
  std::ofstream(file) << "1,2,NOISE\n";
  const auto trace = ReadVtrainTrace(file);
  REQUIRE(trace.ok());
  CHECK(trace->hidden == 16);
  CHECK(trace->tp == 1);
  CHECK(trace->micro_batch == 2);
  VtrainOptions options;
  options.kernels = VtrainKernels::kTrace;
  options.trace = *trace;
  const auto made = MakeVtrain("traced", nullptr, options);
  CHECK(absl::IsInvalidArgument(made.status()));
  CHECK_THAT(std::string(made.status().message()),
             Catch::Contains(file + ":1: record type 'NOISE'"));
  CHECK(absl::IsInvalidArgument(ReadVtrainTrace("trace_of_mine").status()));
  CHECK(absl::IsNotFound(ReadVtrainTrace("no_trace_16_1_2").status()));
}

}  // namespace
}  // namespace lmsimbench
