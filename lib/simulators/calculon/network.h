#pragma once

#include "lib/simulators/calculon/inputs.h"

namespace lmsimbench::calculon {

/// Seconds of one operation on a message of `bytes` among `participants` (2 for
/// p2p). One latency per operation, however many take part and also for an
/// empty message.
inline double NetworkTime(const Network& network, NetworkOp op, double bytes,
                          double participants) {
  const Network::Op& factors = network.ops[static_cast<size_t>(op)];
  double carried = bytes * factors.scalar;
  carried = carried + (1 / participants * carried) * factors.offset;
  return network.latency_s +
         carried / (network.bandwidth_bytes_per_s * network.efficiency);
}

}  // namespace lmsimbench::calculon
