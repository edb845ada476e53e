#pragma once

#include <string>
#include <vector>

#include "flows.h"

namespace embed {

/// What one device has at one level of the network, in one direction.
struct Link {
  double bandwidth = 0;  ///< Bytes per second.
  double latency_s = 0;  ///< Of a message through one switch.
};

/// How the nodes are joined.
enum class Topology { kNone, kFatTree, kDragonfly };

/// Nodes of devices, filled from the first on. A switch joins the devices of a
/// node; every device has its own adapter to the network that joins the nodes.
struct Fabric {
  Link inside;
  Link outside;
  Topology topology = Topology::kNone;
  int nodes = 1;
  int devices_per_node = 1;
};

/// Simulated seconds of each question, whose group has to be one that the
/// fabric joins, in SimGrid. SimGrid has one engine a process, with one
/// platform, and cannot begin anew: every call runs in a child process of its
/// own, which costs the caller nothing if it crashes. `error` is empty unless
/// it failed; then nothing is returned.
std::vector<double> Simulate(const Fabric& fabric,
                             const std::vector<Question>& questions,
                             std::string& error);

}  // namespace embed
