#pragma once

#include "lmsimbench/cost_models.h"
#include "lmsimbench/operator.h"
#include "lmsimbench/system.h"

namespace lmsimbench {

/// The host of a device, where a system does not state it.
struct HostKind {
  /// Of the link to a device in one direction, and of the host's memory for
  /// each of its devices, in bytes per second.
  double link_bandwidth = 0;
  double memory_bandwidth = 0;
  /// Says so in a sentence.
  const char* words = "";
};

/// By the name of the device; of a name that says nothing a host of PCIe 4.0.
const HostKind& HostKindOf(const Accelerator& accelerator);

/// Seconds of work of the host (`Computation::kHost`): its bytes over the
/// bandwidth of the host's memory, or of a copy that of the link where it is
/// less.
double HostSeconds(const RooflineParameters& parameters, const System& system,
                   const Operator& op);

}  // namespace lmsimbench
