#include "fabric.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <utility>

namespace embed {
namespace {

namespace sg4 = simgrid::s4u;

// A leaf switch has as many ports up as down, so that the tree is as wide
// everywhere as at its leaves: 64 ports, as Quantum-2 InfiniBand switches have.
constexpr unsigned kLeafPorts = 32;

// Slingshot's largest dragonfly: of a switch's 64 ports 16 lead to adapters, 31
// to every other switch of its group, 17 to other groups (De Sensi et al., "An
// In-Depth Analysis of the Slingshot Interconnect", SC20).
constexpr unsigned kRouterEndpoints = 16;
constexpr unsigned kGroupRouters = 32;
constexpr unsigned kRouterGlobalLinks = 17;

// What a flow cares about does not depend on the speed of a host.
constexpr double kHostSpeed = 1e9;

using Hosts = std::vector<sg4::Host*>;

// Makes the leaves of a zone and adds them to `hosts`.
sg4::ClusterCallbacks Leaves(const std::string& prefix, Hosts& hosts) {
  return sg4::ClusterCallbacks([prefix, &hosts](
                                   sg4::NetZone* zone,
                                   const std::vector<unsigned long>&,
                                   unsigned long id) {
    hosts.push_back(zone->create_host(prefix + std::to_string(id), kHostSpeed));
    simgrid::kernel::routing::NetPoint* const no_gateway = nullptr;
    return std::make_pair(hosts.back()->get_netpoint(), no_gateway);
  });
}

// A way through one switch is two links long.
double LinkLatency(const Link& link) { return link.latency_s / 2; }

// One device is two hosts: what it is inside of its node, and its adapter.
class Platform {
 public:
  explicit Platform(const Fabric& fabric)
      : devices_per_node_(fabric.devices_per_node) {
    const auto both_ways = sg4::Link::SharingPolicy::SPLITDUPLEX;
    sg4::NetZone* const root = sg4::create_empty_zone("root");
    const auto devices = static_cast<unsigned>(fabric.devices_per_node);
    // Not stated where no group has two members in a node.
    const bool has_inside = fabric.inside.bandwidth > 0;
    for (int node = 0; has_inside && node < fabric.nodes; ++node) {
      const std::string name = "node" + std::to_string(node);
      sg4::create_fatTree_zone(name, root, {1, {devices}, {1}, {1}},
                               Leaves(name + "-device", devices_),
                               fabric.inside.bandwidth,
                               LinkLatency(fabric.inside), both_ways)
          ->seal();
    }
    const unsigned adapters = static_cast<unsigned>(fabric.nodes) * devices;
    if (fabric.nodes > 1 && fabric.topology == Topology::kFatTree) {
      const unsigned leaves = (adapters + kLeafPorts - 1) / kLeafPorts;
      sg4::create_fatTree_zone(
          "network", root, {2, {kLeafPorts, leaves}, {1, kLeafPorts}, {1, 1}},
          Leaves("adapter", adapters_), fabric.outside.bandwidth,
          LinkLatency(fabric.outside), both_ways)
          ->seal();
    }
    if (fabric.nodes > 1 && fabric.topology == Topology::kDragonfly) {
      const unsigned in_group = kRouterEndpoints * kGroupRouters;
      const unsigned groups = (adapters + in_group - 1) / in_group;
      // All global ports of a group, shared evenly between the others.
      const unsigned between =
          groups > 1
              ? std::max(1u, kGroupRouters * kRouterGlobalLinks / (groups - 1))
              : 1;
      sg4::create_dragonfly_zone(
          "network", root,
          {{groups, between}, {1, 1}, {kGroupRouters, 1}, kRouterEndpoints},
          Leaves("adapter", adapters_), fabric.outside.bandwidth,
          LinkLatency(fabric.outside), both_ways)
          ->seal();
    }
    root->seal();
  }

  sg4::CommPtr Start(const Group& group, const Flow& flow) const {
    const int from_node = flow.from / group.members_per_node;
    const int to_node = flow.to / group.members_per_node;
    const Hosts& hosts = from_node == to_node ? devices_ : adapters_;
    const auto host = [&](int node, int member) {
      return hosts.at(node * devices_per_node_ +
                      member % group.members_per_node);
    };
    return sg4::Comm::sendto_async(
        host(from_node, flow.from), host(to_node, flow.to),
        static_cast<uint64_t>(std::ceil(flow.bytes)));
  }

 private:
  int devices_per_node_;
  Hosts devices_;
  Hosts adapters_;
};

// Runs flows from the outside of the simulation, without any actor. A flow is
// created when it may begin: what SimGrid has to look through stays short.
class Runner {
 public:
  explicit Runner(const Platform& platform) : platform_(platform) {
    sg4::Comm::on_completion_cb(
        [this](const sg4::Activity& ended) { Ended(ended); });
  }

  // Seconds until the last flow has ended.
  double Run(const Question& question) {
    group_ = question.group;
    flows_ = FlowsOf(question);
    followers_.assign(flows_.size() + 1, {});
    for (size_t i = 0; i < flows_.size(); ++i) {
      // Those that follow none are behind the last.
      const int after = flows_[i].after;
      followers_[after < 0 ? flows_.size() : after].push_back(i);
    }
    const double begin = sg4::Engine::get_clock();
    StartFollowers(flows_.size());
    sg4::Engine::get_instance()->run();
    return sg4::Engine::get_clock() - begin;
  }

 private:
  void StartFollowers(size_t flow) {
    for (const size_t next : followers_[flow]) {
      const sg4::CommPtr comm = platform_.Start(group_, flows_[next]);
      running_.emplace(comm.get(), std::make_pair(next, comm));
    }
  }

  void Ended(const sg4::Activity& ended) {
    const auto found = running_.find(&ended);
    const size_t flow = found->second.first;
    // Kept until its followers run: SimGrid still holds the one that ends.
    const sg4::CommPtr comm = found->second.second;
    running_.erase(found);
    StartFollowers(flow);
  }

  const Platform& platform_;
  Group group_;
  std::vector<Flow> flows_;
  std::vector<std::vector<size_t>> followers_;
  std::unordered_map<const sg4::Activity*, std::pair<size_t, sg4::CommPtr>>
      running_;
};

std::vector<double> RunAll(const Fabric& fabric,
                           const std::vector<Question>& questions) {
  // Flows that share a link share its bandwidth; the corrections for TCP, which
  // no such network speaks, are off.
  std::string arguments[] = {
      "embed", "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
      "--cfg=network/crosstraffic:no", "--log=root.thres:error"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  sg4::Engine engine(&argc, argv.data());

  const Platform platform(fabric);
  Runner runner(platform);
  std::vector<double> seconds;
  for (const Question& question : questions) {
    seconds.push_back(runner.Run(question));
  }
  return seconds;
}

bool WriteAll(int file, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(file, at, size);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

size_t ReadAll(int file, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, at + done, size - done);
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace

std::vector<double> Simulate(const Fabric& fabric,
                             const std::vector<Question>& questions,
                             std::string& error) {
  error.clear();
  int ends[2];
  if (pipe(ends) != 0) {
    error = "no pipe to a process for SimGrid";
    return {};
  }
  // What is not yet printed would be printed by both processes.
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    bool done = false;
    try {
      const std::vector<double> seconds = RunAll(fabric, questions);
      done = WriteAll(ends[1], seconds.data(), seconds.size() * sizeof(double));
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "SimGrid: %s\n", problem.what());
    }
    // Ends without touching what belongs to the parent.
    _exit(done ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> seconds(questions.size());
  const size_t size = seconds.size() * sizeof(double);
  const size_t got = child > 0 ? ReadAll(ends[0], seconds.data(), size) : 0;
  close(ends[0]);
  int status = 0;
  if (child < 0) {
    error = "no process for SimGrid";
  } else if (waitpid(child, &status, 0) != child || status != 0 ||
             got != size) {
    error = "SimGrid ended without an answer";
  }
  if (!error.empty()) return {};
  return seconds;
}

}  // namespace embed
