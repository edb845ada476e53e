#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/cost_models.h"
#include "test/cost/fixed_model.h"

namespace lmsimbench {
namespace {

using Catch::Matchers::Contains;

// Every share 1, nothing saturates, no launch.
RooflineParameters Ideal() {
  RooflineParameters ideal;
  ideal.matrix_efficiency = 1;
  ideal.matrix_efficiency_fp8 = 1;
  ideal.half_tile = 0;
  ideal.half_depth = 0;
  ideal.misaligned_factor = 1;
  ideal.attention_forward_efficiency = 1;
  ideal.attention_backward_efficiency = 1;
  ideal.half_tokens = 0;
  ideal.memory_efficiency = 1;
  ideal.launch_s = 0;
  return ideal;
}

TEST_CASE("With every share 1 the roofline is peak or bandwidth") {
  const auto model = MakeRooflineModel(Ideal());
  // 2 * 10000^3 / 100e12 = 20 ms, against 600 MB / 1 TB/s.
  const Cost large = CostOf(*model, TestSystem(), Matmul(10000, 10000, 10000));
  CHECK(large.seconds == Approx(20e-3));
  CHECK(large.evidence == Evidence::kAnalytic);
  // 1 x 10000 x 10000: 200 MB of weights in 0.2 ms, 2 us of operations.
  CHECK(CostOf(*model, TestSystem(), Matmul(1, 10000, 10000)).seconds ==
        Approx(200.04e-6));
  // 4 * 1000 * 1000 bytes / 1 TB/s.
  CHECK(
      CostOf(*model, TestSystem(), Elementwise(OperatorKind::kNorm, 1000, 1000))
          .seconds == Approx(4e-6));
  // 4 * 4096^2 / 2 * 32 * 128 operations / 100 TFLOP/s.
  CHECK(CostOf(*model, TestSystem(), Attention(1, 4096, 32, 128)).seconds ==
        Approx(4096.0 * 4096 * 2 * 4096 / 100e12));
}

TEST_CASE("The shortest kernel takes the launch latency") {
  RooflineParameters parameters = Ideal();
  parameters.launch_s = 5e-6;
  const auto model = MakeRooflineModel(parameters);
  CHECK(CostOf(*model, TestSystem(), Elementwise(OperatorKind::kNorm, 1, 1))
            .seconds == Approx(5e-6));
}

TEST_CASE("Small matrices reach half of the share at the half lengths") {
  RooflineParameters parameters = Ideal();
  parameters.half_depth = 100;
  const auto model = MakeRooflineModel(parameters);
  // k = half_depth: twice the time of the operations.
  CHECK(CostOf(*model, TestSystem(), Matmul(8192, 8192, 100)).seconds ==
        Approx(2 * 2 * 8192.0 * 8192 * 100 / 100e12));
}

TEST_CASE(
    "Misaligned lengths cost the misaligned factor, better aligned ones less") {
  RooflineParameters parameters = Ideal();
  parameters.misaligned_factor = 1.5;
  const auto model = MakeRooflineModel(parameters);
  const System system = TestSystem();
  const auto rate = [&](const Operator& op) {
    return CostOf(*model, system, op).seconds / op.flops;
  };
  const double aligned = rate(Matmul(4096, 4096, 4096));
  CHECK(rate(Matmul(4096, 4104, 4096)) == Approx(1.5 * aligned));
  CHECK(rate(Matmul(4096, 4096, 4104)) == Approx(1.5 * aligned));
  // Multiples of 32: a quarter of the half that multiples of 8 pay.
  CHECK(rate(Matmul(4096, 4096 + 32, 4096)) == Approx(1.125 * aligned));
  // Tokens of a forward pass are rows: not contiguous.
  CHECK(rate(Matmul(4104, 4096, 4096)) == Approx(aligned));
  // In a weight gradient they are k.
  CHECK(rate(Matmul(4096, 4096, 4104, OperatorPass::kWeightGradient)) ==
        Approx(aligned));
  CHECK(rate(Matmul(4104, 4096, 4096, OperatorPass::kWeightGradient)) ==
        Approx(1.5 * aligned));
}

TEST_CASE("A missing figure is named") {
  const auto model = MakeRooflineModel();
  System system = TestSystem();
  Operator op = Matmul(64, 64, 64);
  op.precision = Precision::kFp16;
  absl::Status status = StatusOf(*model, system, op);
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Contains("'test device' states no peak for fp16"));
  system.accelerator.memory_bandwidth = kNoNumber;
  status = StatusOf(*model, system, Elementwise(OperatorKind::kNorm, 64, 64));
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Contains("'test device' states no memory bandwidth"));
}

TEST_CASE("More work of the same alignment is never faster") {
  const auto model = MakeRooflineModel();
  const System system = TestSystem();
  const std::vector<int64_t> lengths = {64,   128,  192,   256,  512,
                                        1024, 4096, 11008, 16384};
  for (int64_t a : lengths) {
    for (int64_t b : lengths) {
      double last_m = 0;
      double last_n = 0;
      double last_k = 0;
      double last_tokens = 0;
      for (int64_t length : lengths) {
        const auto seconds = [&](const Operator& op) {
          return CostOf(*model, system, op).seconds;
        };
        const double m = seconds(Matmul(length, a, b));
        const double n = seconds(Matmul(a, length, b));
        const double k = seconds(Matmul(a, b, length));
        const double tokens = seconds(Attention(1, length, a / 64, 128));
        REQUIRE(m >= last_m);
        REQUIRE(n >= last_n);
        REQUIRE(k >= last_k);
        REQUIRE(tokens >= last_tokens);
        last_m = m;
        last_n = n;
        last_k = k;
        last_tokens = tokens;
      }
    }
  }
}

TEST_CASE("Fitted parameters hold for their own platform") {
  RooflineParameters slow = Ideal();
  slow.memory_efficiency = 0.5;
  const auto model = MakeRooflineModel(Ideal(), {{TestSystem(), slow}});
  const Operator op = Elementwise(OperatorKind::kNorm, 1000, 1000);
  CHECK(CostOf(*model, TestSystem(), op).seconds == Approx(8e-6));
  // Other figures under the same name: another system.
  System other = TestSystem();
  other.accelerator.bf16_flops *= 2;
  CHECK(CostOf(*model, other, op).seconds == Approx(4e-6));
  // Another name, and too few figures to tell that it is the same device.
  other = TestSystem();
  other.name = "another";
  CHECK(CostOf(*model, other, op).seconds == Approx(4e-6));
}

TEST_CASE("experts fill the device together, each with weights of its own") {
  const auto model = MakeRooflineModel(Ideal());
  const auto seconds = [&](int64_t experts, int64_t tokens) {
    Operator op = Matmul(tokens, 4096, 4096);
    op.kind = OperatorKind::kExpertUp;
    op.batch = experts;
    op.flops *= static_cast<double>(experts);
    op.bytes *= static_cast<double>(experts);
    return CostOf(*model, TestSystem(), op).seconds;
  };
  // 8 * 1024 rows: 2 * 8192 * 4096^2 / 100e12, and weights of 7 more experts,
  // 2 * 4096^2 bytes each, at 1 TB/s.
  CHECK(seconds(8, 1024) == Approx(2 * 8192.0 * 4096 * 4096 / 100e12 +
                                   7 * 2 * 4096.0 * 4096 / 1e12));
  // Whole tiles of 128 tokens.
  CHECK(seconds(8, 100) == seconds(8, 128));
  CHECK(seconds(8, 129) > seconds(8, 128));
}

// Work of the host on a GB.
Operator OfHost(OperatorKind kind) {
  Operator op;
  op.kind = kind;
  op.pass = OperatorPass::kOptimizer;
  op.computation = Computation::kHost;
  op.rows = 250'000'000;
  op.width = 1;
  op.bytes = 1e9;
  return op;
}

TEST_CASE("Work of the host is bound by its memory, and copies by the link") {
  RooflineParameters parameters = Ideal();
  parameters.host_link_efficiency = 0.5;
  parameters.host_memory_efficiency = 0.25;
  const auto model = MakeRooflineModel(parameters);
  System system = TestSystem();
  system.host_link_bandwidth = 20e9;
  system.host_memory_bandwidth = 80e9;
  // 1 GB at half of 20 GB/s, and at a quarter of 80 GB/s.
  CHECK(CostOf(*model, system, OfHost(OperatorKind::kHostCopy)).seconds ==
        Approx(0.1));
  CHECK(CostOf(*model, system, OfHost(OperatorKind::kOptimizer)).seconds ==
        Approx(0.05));
  // A link that is faster than the memory behind it does not help.
  system.host_link_bandwidth = 900e9;
  CHECK(CostOf(*model, system, OfHost(OperatorKind::kHostCopy)).seconds ==
        Approx(0.05));
}

TEST_CASE("A system that does not state its host is refused or taken for one") {
  const auto model = MakeRooflineModel(Ideal());
  const Operator copy = OfHost(OperatorKind::kHostCopy);
  System system = TestSystem();
  CHECK_THAT(std::string(StatusOf(*model, system, copy).message()),
             Contains("'test system' states no host_link_bandwidth"));
  system.host_link_bandwidth = 20e9;
  CHECK_THAT(std::string(StatusOf(*model, system, copy).message()),
             Contains("states no host_memory_bandwidth"));
  RooflineParameters parameters = Ideal();
  parameters.host_link_efficiency = 1;
  parameters.host_memory_efficiency = 1;
  parameters.assumes_host = true;
  const auto assuming = MakeRooflineModel(parameters);
  const struct {
    const char* device;
    double link;
    double memory;
  } hosts[] = {
      {"Tesla V100 SXM2 32GB", 15.75e9, 19.2e9},
      {"A100 SXM4 80GB", 31.5e9, 51.2e9},
      {"H100 SXM5 80GB", 63e9, 76.8e9},
      {"H20 SXM 96GB HBM3", 63e9, 76.8e9},
      {"GH200 Grace Hopper 96GB HBM3", 450e9, 512e9},
      {"GB200 (per Blackwell GPU)", 256e9, 256e9},
      {"a device nobody knows", 31.5e9, 51.2e9},
  };
  for (const auto& host : hosts) {
    CAPTURE(host.device);
    system = TestSystem();
    system.accelerator.name = host.device;
    CHECK(CostOf(*assuming, system, copy).seconds == Approx(1e9 / host.link));
    CHECK(CostOf(*assuming, system, OfHost(OperatorKind::kOptimizer)).seconds ==
          Approx(1e9 / host.memory));
    CHECK_FALSE(UnstatedHost(system).empty());
  }
  // What is stated is taken.
  system.host_link_bandwidth = 10e9;
  CHECK(CostOf(*assuming, system, copy).seconds == Approx(0.1));
  CHECK_FALSE(UnstatedHost(system).empty());
  system.host_memory_bandwidth = 100e9;
  CHECK(UnstatedHost(system).empty());
}

}  // namespace
}  // namespace lmsimbench
