#pragma once

#include <cstdint>
#include <string>

#include "lib/simulators/vtrain/error.h"

namespace lmsimbench::vtrain {

/// Groups that were measured: 2 to 8 devices, 1 to 1024 MiB.
inline constexpr int64_t kSmallestGroup = 2;
inline constexpr int64_t kLargestGroup = 8;
inline constexpr int64_t kLargestMebibytes = 1024;

/// Measured times of in-place all-reduces of one accelerator (nccl-tests).
struct AllReduceTable {
  /// Nanoseconds of each whole number of MiB, from 1.
  int32_t time_ns[kLargestGroup - kSmallestGroup + 1][kLargestMebibytes];
  /// Bus bandwidth of 1 GiB in GB/s.
  double bus_bandwidth[kLargestGroup - kSmallestGroup + 1];
};

/// The table of an accelerator, by vTrain's name for it in any case; null if it
/// has none.
const AllReduceTable* FindAllReduceTable(const std::string& gpu_name);

/// Names of the accelerators with a table: "a100, v100".
std::string AllReduceTableNames();

/// Nanoseconds of an all-reduce of `bytes` in a group of `members` inside a
/// node. Groups without a table have `intra_node_bandwidth` (GB/s of 2^30
/// bytes) and no latency. `smooth` mends the cliffs below 0.5 MiB and above
/// 1 GiB, see `VtrainRepairs::smooth_all_reduce`.
double AllReduceNs(const AllReduceTable& table, double intra_node_bandwidth,
                   int64_t bytes, int64_t members, bool smooth);

/// Nanoseconds of an all-reduce between nodes, whose links give `bandwidth`
/// bytes per second: a ring without latency.
double RingNs(int64_t bytes, int64_t members, double bandwidth);

/// Nanoseconds of a message between pipeline stages: over a quarter of the
/// node's links, of `inter_node_bandwidth` Gbit/s of 2^30 bits.
double HopNs(int64_t bytes, double inter_node_bandwidth);

/// Bytes per second of the links of a node.
double NodeBandwidth(double inter_node_bandwidth);

}  // namespace lmsimbench::vtrain
