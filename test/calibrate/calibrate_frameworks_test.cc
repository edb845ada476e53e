#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>

#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/calibrate.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/report.h"
#include "lmsimbench/staged.h"

namespace lmsimbench {
namespace {

constexpr char kClass[] = "internevo";

const Bundle& Embedded() {
  static const auto bundle = Bundle::Embedded();
  REQUIRE(bundle.ok());
  return *bundle;
}

// The runs of one class of frameworks.
Measurements RunsOf(const std::string& framework) {
  auto all = ReadMeasurements(Embedded());
  REQUIRE(all.ok());
  Measurements some = *all;
  some.runs.clear();
  some.failed_runs.clear();
  for (const MeasuredRun& run : all->runs) {
    if (run.framework == framework) some.runs.push_back(run);
  }
  REQUIRE_FALSE(some.runs.empty());
  return some;
}

CalibratedFramework Calibrated(const Measurements& measurements,
                               CalibrateOptions options = {}) {
  options.framework = kClass;
  const auto calibrated =
      CalibrateFrameworks(measurements, Embedded(), options);
  REQUIRE(calibrated.ok());
  REQUIRE(calibrated->size() == 1);
  return calibrated->front();
}

double ValueOf(const CalibratedFramework& framework, const std::string& name) {
  for (const CalibratedConstant& constant : framework.constants) {
    if (constant.name == name && constant.accelerator.empty()) {
      return constant.value;
    }
  }
  FAIL("no constant " << name);
  return 0;
}

// Runs as long as a framework of these parameters would take.
Measurements Simulated(const FrameworkParameters& parameters) {
  Measurements measurements = RunsOf("InternEvo");
  auto device = MakeStagedKernelModel(Embedded());
  REQUIRE(device.ok());
  const auto simulator = MakeStaged(
      "simulated", MakeFrameworkModel(*std::move(device), parameters));
  for (MeasuredRun& run : measurements.runs) {
    const auto platform = FindPlatform(Embedded(), run.platform);
    REQUIRE(platform.ok());
    const auto prediction = simulator->Predict(
        run.workload, SystemOfRun(*platform, run), run.config);
    REQUIRE(prediction.ok());
    run.iteration_time_s = prediction->iteration_time_s;
  }
  return measurements;
}

TEST_CASE("Constants that made the runs are found again") {
  FrameworkParameters parameters;
  parameters.matrix_factor = 1.3;
  parameters.gather_rank_s = 2e-3;
  const CalibratedFramework found = Calibrated(Simulated(parameters));
  CHECK(found.time.runs > 20);
  CHECK(found.time.before_percent > 15);
  CHECK(found.time.after_percent < 2);
  CHECK(ValueOf(found, "matrix_factor") == Approx(1.3).epsilon(0.1));
  // The others may share between them what the runs do not tell apart.
}

TEST_CASE("Constants of which the runs say nothing are not fitted") {
  const CalibratedFramework found = Calibrated(RunsOf("InternEvo"));
  for (const CalibratedConstant& constant : found.constants) {
    INFO(constant.name);
    // The models are dense and have no pipeline.
    CHECK(constant.name != "expert_factor");
    CHECK(constant.name != "transfer_s");
    CHECK(constant.lowest <= constant.value);
    CHECK(constant.value <= constant.highest);
  }
}

TEST_CASE("Runs of another split, and flagged ones, change nothing") {
  const Measurements measurements = RunsOf("InternEvo");
  Measurements changed = measurements;
  int others = 0;
  for (MeasuredRun& run : changed.runs) {
    if (run.split == kFitSplit) continue;
    run.iteration_time_s *= 7;
    ++others;
  }
  REQUIRE(others > 0);
  MeasuredRun flagged = changed.runs.front();
  flagged.split = kFitSplit;
  flagged.flag = "SUSPECT";
  flagged.iteration_time_s *= 7;
  changed.runs.push_back(flagged);
  CHECK(CalibrationJson({Calibrated(changed)}) ==
        CalibrationJson({Calibrated(measurements)}));
}

TEST_CASE("Too few runs are not fitted") {
  Measurements few = RunsOf("InternEvo");
  few.runs.resize(3);
  const CalibratedFramework found = Calibrated(few);
  CHECK(found.constants.empty());
  CHECK(found.time.runs == 0);
}

TEST_CASE("A class that does not exist is named with the nearest") {
  CalibrateOptions options;
  options.framework = "internvo";
  const auto calibrated =
      CalibrateFrameworks(RunsOf("InternEvo"), Embedded(), options);
  CHECK(calibrated.status().code() == absl::StatusCode::kNotFound);
  CHECK(std::string(calibrated.status().message()) ==
        "no framework class is called 'internvo'; did you mean 'internevo'?");
}

TEST_CASE("What was fitted is known under every name of the class") {
  CalibratedFramework framework;
  framework.begins = {"one", "two"};
  framework.constants.resize(2);
  framework.constants[0].name = framework.constants[1].name = "matrix_factor";
  framework.constants[0].value = 2;
  framework.constants[1].accelerator = "test device";
  framework.constants[1].value = 3;
  const std::vector<FittedFramework> fitted = Fitted({framework});
  System system;
  for (const char* name : {"One 1.0", "TWO"}) {
    system.framework = name;
    system.accelerator.name = "test device";
    CHECK(FindFramework(fitted, system)->matrix_factor == 3);
    system.accelerator.name = "another";
    CHECK(FindFramework(fitted, system)->matrix_factor == 2);
  }
}

TEST_CASE("Threads decide nothing") {
  const Measurements measurements = RunsOf("InternEvo");
  CalibrateOptions options;
  options.leave_one_out = true;
  const std::string one = CalibrationJson({Calibrated(measurements, options)});
  options.threads = 5;
  CHECK(CalibrationJson({Calibrated(measurements, options)}) == one);
  options.threads = 0;
  const auto none = CalibrateFrameworks(measurements, Embedded(), options);
  CHECK(none.status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("What a constant buys is what the runs lose without it") {
  FrameworkParameters parameters;
  parameters.matrix_factor = 1.4;
  const Measurements measurements = Simulated(parameters);
  CalibrateOptions options;
  options.leave_one_out = true;
  const CalibratedFramework found = Calibrated(measurements, options);
  for (const CalibratedConstant& constant : found.constants) {
    INFO(constant.name);
    // The share of usable memory comes from runs that failed.
    if (constant.name == "usable_memory") continue;
    CHECK(IsStated(constant.error_percent_without));
    if (constant.name == "matrix_factor") {
      CHECK(constant.error_percent_without > 2 * found.time.after_percent);
    }
  }
  for (const CalibratedConstant& constant :
       Calibrated(measurements).constants) {
    CHECK_FALSE(IsStated(constant.error_percent_without));
  }
}

// Every second run is of another source.
std::vector<CarriedOver> CarriedBetweenTwo(Measurements measurements,
                                           double second_is_longer_by) {
  for (size_t i = 1; i < measurements.runs.size(); i += 2) {
    measurements.runs[i].source = "second";
    measurements.runs[i].iteration_time_s *= second_is_longer_by;
  }
  CalibrateOptions options;
  options.framework = kClass;
  const auto carried = CarryOver(measurements, Embedded(), options);
  REQUIRE(carried.ok());
  return *carried;
}

TEST_CASE("Constants carry over to a source that behaves as the others") {
  FrameworkParameters parameters;
  parameters.matrix_factor = 1.3;
  parameters.operator_host_s = 100e-6;
  const auto carried = CarriedBetweenTwo(Simulated(parameters), 1);
  REQUIRE(carried.size() == 2);
  for (const CarriedOver& entry : carried) {
    INFO(entry.source);
    CHECK(entry.framework == kClass);
    CHECK(entry.time.runs > 5);
    CHECK(entry.time.uncalibrated_percent > 10);
    CHECK(entry.time.without_percent < 3);
    CHECK(entry.time.with_percent < 3);
  }
}

TEST_CASE("Constants do not carry over to a source that behaves differently") {
  const auto carried = CarriedBetweenTwo(Simulated(FrameworkParameters()), 2);
  REQUIRE(carried.size() == 2);
  for (const CarriedOver& entry : carried) {
    INFO(entry.source);
    CHECK(entry.time.without_percent > 1.2 * entry.time.with_percent);
    CHECK(entry.time.without_percent > 60);
  }
}

TEST_CASE("A class of one source carries nothing over") {
  CalibrateOptions options;
  options.framework = kClass;
  const auto carried = CarryOver(RunsOf("InternEvo"), Embedded(), options);
  REQUIRE(carried.ok());
  CHECK(carried->empty());
  options.framework = "internvo";
  CHECK(CarryOver(RunsOf("InternEvo"), Embedded(), options).status().code() ==
        absl::StatusCode::kNotFound);
}

TEST_CASE("A source with too few others is left out") {
  Measurements measurements = RunsOf("InternEvo");
  for (MeasuredRun& run : measurements.runs) run.source = "most";
  int others = 0;
  for (MeasuredRun& run : measurements.runs) {
    if (run.split == kFitSplit && others++ < 3) run.source = "few";
  }
  CalibrateOptions options;
  options.framework = kClass;
  const auto carried = CarryOver(measurements, Embedded(), options);
  REQUIRE(carried.ok());
  // Three runs are too few to fit what the others are asked with.
  REQUIRE(carried->size() == 1);
  CHECK(carried->front().source == "few");
  CHECK(carried->front().time.runs == 3);
}

}  // namespace
}  // namespace lmsimbench
