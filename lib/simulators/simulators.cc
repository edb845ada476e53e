#include "lmsimbench/simulators.h"

#include <fmt/core.h>

#include <iterator>
#include <vector>

#include "lmsimbench/calculon.h"
#include "lmsimbench/naive.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/staged.h"
#include "lmsimbench/vtrain.h"

namespace lmsimbench {
namespace {

using MadeSimulator = absl::StatusOr<std::unique_ptr<Simulator>>;

constexpr BuiltInSimulator kSimulators[] = {
    {"naive-utilisation",
     "yardstick: the model's operations at one utilisation a platform; answers "
     "time",
     true},
    {"naive-bubble",
     "yardstick: the same, and the pipeline's bubble; answers time", true},
    {"calculon",
     "Calculon's model on its own A100 and H100; answers time and memory",
     true},
    {"calculon-described",
     "Calculon's model on platforms described from their figures and kernels; "
     "answers time and memory",
     true},
    {"vtrain",
     "vTrain's model as released, kernels composed of measured operators, on "
     "A100 and V100; answers time and ranks",
     true},
    {"vtrain-repaired",
     "the same with its known faults mended; asks the cost model about other "
     "accelerators",
     true},
    {"staged-datasheet",
     "the five stages of this library on published figures alone; answers "
     "time, memory, verdict, rank classes and evidence",
     true},
    {"staged-kernels", "the same with measured kernels and collectives", true},
    {"staged",
     "the same with constants of frameworks, fitted on whole iterations", true},
    {"calculon-strict",
     "Calculon as it stands: refuses what it would have to adapt", false},
};

// In the order of kSimulators.
MadeSimulator (*const kMakers[])(const Bundle&) = {
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeNaive(NaiveKind::kUtilisation, bundle);
    },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeNaive(NaiveKind::kBubble, bundle);
    },
    [](const Bundle&) -> MadeSimulator { return MakeCalculon(); },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeCalculonDescribed(bundle);
    },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeVtrain("vtrain", bundle, VtrainRepairs::None());
    },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeVtrain("vtrain-repaired", bundle, VtrainRepairs::All());
    },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeStaged(bundle, StagedLevel::kDatasheet);
    },
    [](const Bundle& bundle) -> MadeSimulator {
      return MakeStaged(bundle, StagedLevel::kKernels);
    },
    [](const Bundle& bundle) -> MadeSimulator { return MakeStaged(bundle); },
    [](const Bundle&) -> MadeSimulator {
      return MakeCalculon(CalculonAdaptations::Strict());
    },
};
static_assert(std::size(kSimulators) == std::size(kMakers),
              "one maker a simulator");

}  // namespace

absl::Span<const BuiltInSimulator> BuiltInSimulators() { return kSimulators; }

absl::StatusOr<std::unique_ptr<Simulator>> MakeSimulator(
    const std::string& name, const Bundle& bundle) {
  std::vector<std::string> known;
  for (size_t i = 0; i < std::size(kSimulators); ++i) {
    if (name == kSimulators[i].name) return kMakers[i](bundle);
    known.emplace_back(kSimulators[i].name);
  }
  const std::string nearest = NearestName(name, known);
  return absl::NotFoundError(fmt::format(
      "no built-in simulator is named '{}'{}", name,
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

}  // namespace lmsimbench
