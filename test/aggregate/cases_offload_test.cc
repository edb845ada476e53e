#include "catch2/catch.hpp"
#include "lmsimbench/cost_models.h"
#include "lmsimbench/timeline.h"
#include "test/aggregate/run_stages.h"
#include "test/pipelines.h"

namespace lmsimbench {
namespace {

// Numbers that are easy to divide by: a link of 10 GB/s, 100 GB/s of the host's
// memory a device, and kernels that reach all there is.
System HostedSystem() {
  System system = TestSystem();
  system.host_link_bandwidth = 10e9;
  system.host_memory_bandwidth = 100e9;
  return system;
}

std::unique_ptr<CostModel> IdealModel() {
  RooflineParameters roofline;
  roofline.memory_efficiency = 1;
  roofline.host_link_efficiency = 1;
  roofline.host_memory_efficiency = 1;
  roofline.launch_s = 0;
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(MakeRooflineModel(roofline));
  parts.push_back(MakeCollectiveModel());
  return MakeCompositeModel("ideal", std::move(parts));
}

TEST_CASE("copies and the step of the host stand behind the iteration") {
  const Workload workload = SmallWorkload(4, 4);
  for (const int64_t pp : {1, 2}) {
    CAPTURE(pp);
    ParallelConfig config = Pipeline(pp);
    config.dp = 2;
    config.zero = ZeroStage::kDistributedOptimizer;
    const System system = HostedSystem();
    const auto model = IdealModel();
    Stages on_device;
    RunStages(workload, config, system, *model, on_device);
    config.offload_optimizer = YesNo::kYes;
    Stages offloaded;
    RunStages(workload, config, system, *model, offloaded);
    const Prediction& with = offloaded.prediction;
    const Prediction& without = on_device.prediction;

    // What the largest stage updates on one device.
    double updated = 0;
    for (const Stage& stage : offloaded.program.stages) {
      updated = std::max(updated, static_cast<double>(stage.parameters) / 2);
    }
    // 4 bytes a gradient there and 2 a weight back at 10 GB/s; 30 bytes of the
    // host's memory at 100 GB/s; on the device the same 30 at 1 TB/s.
    const double copies = updated * 6 / 10e9;
    const double step = updated * 30 / 100e9;
    CHECK(with.time.offload_s == Approx(copies).margin(1e-9));
    CHECK(with.time.optimizer_s - without.time.optimizer_s ==
          Approx(step - updated * 30 / 1e12).margin(1e-9));
    if (pp == 1) {
      CHECK(with.iteration_time_s - without.iteration_time_s ==
            Approx(copies + step - updated * 30 / 1e12).margin(1e-9));
    }
    CHECK_FALSE(IsStated(without.time.offload_s));
    const TimeParts& time = with.time;
    CHECK(time.forward_s + time.backward_s + time.recompute_s +
              time.optimizer_s + time.offload_s + time.tensor_communication_s +
              time.pipeline_communication_s + time.data_communication_s +
              time.bubble_s + time.other_s ==
          Approx(with.iteration_time_s));
    CHECK(with.memory.optimizer_bytes == 0);
    CHECK(without.peak_memory_bytes - with.peak_memory_bytes ==
          without.memory.optimizer_bytes);
  }
}

TEST_CASE("the host steps between its copies") {
  ParallelConfig config = Pipeline(1);
  config.offload_optimizer = YesNo::kYes;
  const auto model = IdealModel();
  const CostedGraph costed =
      Costed(Lowered(SmallWorkload(2, 2), config, HostedSystem()), *model);
  const auto timeline = Expand(costed);
  REQUIRE(timeline.ok());
  std::vector<OperatorKind> tail;
  double end = 0;
  for (const Slice& slice : timeline->slices) {
    if (slice.stream != Stream::kCompute) continue;
    const Operator& op = costed.graph.program.operators[slice.id];
    if (op.pass != OperatorPass::kOptimizer) continue;
    tail.push_back(op.kind);
    CHECK(slice.start_s >= end);
    end = slice.end_s;
  }
  CHECK(tail == std::vector<OperatorKind>{
                    OperatorKind::kGradientNorm, OperatorKind::kHostCopy,
                    OperatorKind::kOptimizer, OperatorKind::kHostCopy});
}

}  // namespace
}  // namespace lmsimbench
