#include "lmsimbench/naive.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lib/simulators/naive/time_at_peak.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/row_kind.h"

namespace lmsimbench {
namespace {

using Catch::Contains;

Bundle Embedded() {
  auto bundle = Bundle::Embedded();
  REQUIRE(bundle.status() == absl::OkStatus());
  return *bundle;
}

std::unique_ptr<Simulator> Make(NaiveKind kind) {
  auto simulator = MakeNaive(kind, Embedded());
  REQUIRE(simulator.status() == absl::OkStatus());
  return *std::move(simulator);
}

/// A small dense model on sixteen devices of 1e15 operations a second.
struct Question {
  Workload workload;
  System system;
  ParallelConfig config;

  Question() {
    ModelSpec& model = workload.model;
    model.hidden = 64;
    model.layers = 2;
    model.heads = 4;
    model.kv_heads = 4;
    model.ffn = 256;
    model.gated_mlp = YesNo::kNo;
    model.vocab = 1000;
    model.attention = AttentionKind::kMultiHead;
    workload.seq_len = 2048;
    workload.global_batch = 64;
    workload.precision = Precision::kBf16;
    system.name = "made up";
    system.accelerator.bf16_flops = 1e15;
    system.devices = 16;
    config.dp = 4;
    config.pp = 4;
    config.micro_batch = 2;
  }
};

TEST_CASE("a pipeline is full for m v of its m v + p - 1 slots") {
  Question q;
  // Each of four replicas has 64 / (4 * 2) = 8 micro-batches: 8 / (8 + 3).
  CHECK(*naive::PipelineEfficiency(q.workload, q.config) == Approx(8.0 / 11));
  q.config.vpp = 2;
  CHECK(*naive::PipelineEfficiency(q.workload, q.config) == Approx(16.0 / 19));
  q.config.grad_accumulation = 5;
  CHECK(*naive::PipelineEfficiency(q.workload, q.config) == Approx(10.0 / 13));
  q.config.pp = 1;
  CHECK(*naive::PipelineEfficiency(q.workload, q.config) == 1);
}

TEST_CASE("the time at peak is operations over the devices' peak") {
  Question q;
  // Multiply-adds of a token, forward: projections 4 h^2 and MLP 2 h f of two
  // layers, scores and values with half of the 2048 keys (2 h s / 2), output
  // h v. Twice that in operations, three times with the backward pass.
  const double h = 64;
  const double multiply_adds =
      2 * (4 * h * h + 2 * h * 256 + 2 * h * 2048 / 2) + h * 1000;
  const double operations = 6 * multiply_adds * 2048 * 64;
  const auto plain = naive::TimeAtPeak(NaiveKind::kUtilisation, q.workload,
                                       q.system, q.config);
  REQUIRE(plain.status() == absl::OkStatus());
  CHECK(*plain == Approx(operations / (16 * 1e15)));
  const auto bubble =
      naive::TimeAtPeak(NaiveKind::kBubble, q.workload, q.system, q.config);
  CHECK(*bubble == Approx(*plain * 11 / 8));
}

TEST_CASE("a figure that is missing is named") {
  const auto refusal = [](const Question& q) {
    const auto seconds =
        naive::TimeAtPeak(NaiveKind::kBubble, q.workload, q.system, q.config);
    CHECK(IsRefusal(seconds.status()));
    return std::string(seconds.status().message());
  };
  Question q;
  q.workload.precision = Precision::kFp8;
  CHECK_THAT(refusal(q), Contains("the fp8 peak of made up"));
  q = Question();
  q.workload.precision = Precision::kNotStated;
  CHECK_THAT(refusal(q), Contains("number format"));
  q = Question();
  q.workload.global_batch = kNoCount;
  CHECK_THAT(refusal(q), Contains("global batch"));
  q = Question();
  q.config.micro_batch = kNoCount;
  CHECK_THAT(refusal(q), Contains("micro-batch"));
  q = Question();
  q.workload.model = ModelSpec();
  CHECK(!refusal(q).empty());
  q = Question();
  q.config.micro_batch = 64;
  CHECK_THAT(refusal(q), Contains("leaves no micro-batch"));
}

TEST_CASE("a yardstick answers the time and nothing else") {
  const Question q;
  for (const auto kind : {NaiveKind::kUtilisation, NaiveKind::kBubble}) {
    const auto simulator = Make(kind);
    CHECK(simulator->name() == std::string(Name(kind)));
    const auto prediction = simulator->Predict(q.workload, q.system, q.config);
    REQUIRE(prediction.status() == absl::OkStatus());
    CHECK(prediction->iteration_time_s > 0);
    CHECK(std::isnan(prediction->peak_memory_bytes));
    CHECK(prediction->verdict == Verdict::kNotAnswered);
  }
}

TEST_CASE("a platform without fit rows takes all together, and it is said") {
  const Question q;
  const auto prediction =
      Make(NaiveKind::kUtilisation)->Predict(q.workload, q.system, q.config);
  REQUIRE(prediction.status() == absl::OkStatus());
  REQUIRE(prediction->adaptations.size() == 1);
  CHECK_THAT(prediction->adaptations[0], Contains("no fit row on made up"));
}

TEST_CASE("on the fit rows of a platform the median ratio is one") {
  const Bundle bundle = Embedded();
  const auto runs = ReadRuns(bundle);
  REQUIRE(runs.status() == absl::OkStatus());
  for (const auto kind : {NaiveKind::kUtilisation, NaiveKind::kBubble}) {
    const auto simulator = Make(kind);
    std::map<std::string, std::vector<double>> ratios;
    for (const MeasuredRun& run : *runs) {
      if (run.split != "fit" || !IsHeadline(run)) continue;
      auto system = FindPlatform(bundle, run.platform);
      if (!system.ok() || !IsStated(run.iteration_time_s)) continue;
      system->devices = run.devices;
      const auto prediction =
          simulator->Predict(run.workload, *system, run.config);
      if (!prediction.ok()) continue;
      CHECK(prediction->adaptations.empty());
      ratios[run.platform].push_back(prediction->iteration_time_s /
                                     run.iteration_time_s);
    }
    CHECK(ratios.size() > 3);
    for (auto& [platform, values] : ratios) {
      std::sort(values.begin(), values.end());
      INFO(platform << ", " << values.size() << " rows");
      // The mean of the middle two where there is no middle one.
      const double middle =
          (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
      CHECK(middle == Approx(1));
    }
  }
}

TEST_CASE("without fit rows a yardstick is refused") {
  const std::filesystem::path folder = "naive_test_bundle";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "sources.csv")
      << "source_id,title,where,commit_or_date,license,what\n"
         "s,T,here,now,MIT,nothing\n";
  REQUIRE(BuildBundle(folder.string(), (folder / "b").string()) ==
          absl::OkStatus());
  const auto bundle = Bundle::Open((folder / "b").string());
  REQUIRE(bundle.status() == absl::OkStatus());
  const auto simulator = MakeNaive(NaiveKind::kBubble, *bundle);
  CHECK(simulator.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(simulator.status().message()),
             Contains("'naive-bubble'") && Contains("'fit'"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lmsimbench
