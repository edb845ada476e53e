#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fabric.h"
#include "lmsimbench/c.h"

namespace embed {

/// SimGrid as a cost model of collectives: the callbacks that lmsimbench asks.
/// It answers where the system says how its devices are joined, and leaves the
/// rest alone:
///   in a node, if the devices hang on an NVSwitch;
///   between nodes, on InfiniBand or RoCE as a fat tree, on Slingshot as a
///     dragonfly; there a node without a switch will do if its links are so
///     much faster than the network that they do not matter;
///   groups of at most 1,024 members and 100,000 flows, as many members in each
///     node.
/// A collective takes as long as with the quickest of NCCL's protocols.
/// Remembers what it was asked. Not thread-safe.
class SimgridModel {
 public:
  /// Joins nodes as the system says or, if it is given, by `topology`.
  explicit SimgridModel(std::optional<Topology> topology = std::nullopt)
      : topology_(topology) {}
  SimgridModel(const SimgridModel&) = delete;
  SimgridModel& operator=(const SimgridModel&) = delete;

  /// What lmsb_cost_model_new takes. The model has to live as long as what is
  /// made of it.
  lmsb_cost_model_functions Functions();

 private:
  struct Before {
    bool operator()(const Fabric& a, const Fabric& b) const;
    bool operator()(const Question& a, const Question& b) const;
  };

  static lmsb_code Ask(void* user, const lmsb_system* system,
                       const lmsb_collective_batch* batch, double* seconds,
                       int32_t* evidence, lmsb_error* error);
  lmsb_code Answer(const lmsb_system* system,
                   const lmsb_collective_batch& batch, double* seconds,
                   int32_t* evidence, std::string& error);

  std::optional<Topology> topology_;
  // Seconds of what was asked, on each fabric.
  std::map<Fabric, std::map<Question, double, Before>, Before> known_;
};

}  // namespace embed
