#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "lmsimbench/external_simulator.h"

namespace lmsimbench {

/// The program of faulty_program.cc in one of its modes.
inline ExternalOptions Faulty(const std::string& mode) {
  ExternalOptions options;
  options.command = {FAULTY_PROGRAM, mode};
  options.name = "mine";
  return options;
}

inline std::unique_ptr<ExternalSimulator> Make(const ExternalOptions& options) {
  auto simulator = MakeExternalSimulator(options);
  REQUIRE(simulator.status() == absl::OkStatus());
  return *std::move(simulator);
}

/// A question whose content does not matter.
inline absl::StatusOr<Prediction> AskAnything(const Simulator& simulator) {
  return simulator.Predict(Workload(), System(), ParallelConfig());
}

/// The time that is answered to a question whose content does not matter.
inline double AnsweredTime(const Simulator& simulator) {
  const absl::StatusOr<Prediction> prediction = AskAnything(simulator);
  REQUIRE(prediction.status() == absl::OkStatus());
  return prediction->iteration_time_s;
}

}  // namespace lmsimbench
