#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lib/simulators/calculon/inputs.h"
#include "lmsimbench/calculon.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench::calculon {

/// A system as Calculon sees it.
struct Description {
  /// Borrowed from the simulator or from the scratch given to `Describe`.
  /// Memory is unlimited, so that the time can be told of what does not fit.
  const System* system = nullptr;
  /// What the verdict is judged against.
  double capacity_bytes = 0;
  int64_t devices_per_node = 0;
};

/// A simulator that maps each question to Calculon's inputs. What differs is
/// where the description of the system comes from.
class MappedSimulator : public Simulator {
 protected:
  MappedSimulator(std::string name, const CalculonAdaptations& adaptations)
      : Simulator(std::move(name)), adaptations_(adaptations) {}

 private:
  /// Describes the system. May build it in `scratch`, which lives until the
  /// question is answered. Appends the defaults that were used.
  virtual absl::StatusOr<Description> Describe(
      const lmsimbench::System& system, const ParallelConfig& config,
      System& scratch, std::vector<std::string>& adaptations) const = 0;

  absl::Status DoPredict(const Workload& workload,
                         const lmsimbench::System& system,
                         const ParallelConfig& config,
                         lmsimbench::Workspace& workspace,
                         Prediction& prediction) const override;

  CalculonAdaptations adaptations_;
};

}  // namespace lmsimbench::calculon
