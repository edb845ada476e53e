#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

namespace lmsimbench {

/// One device. Peaks are dense, in operations per second; a missing figure
/// stays missing, and a simulator that needs it refuses and names it.
struct Accelerator {
  std::string name;
  std::string vendor;
  /// Capacity of the device memory in bytes.
  double memory_bytes = kNoNumber;
  /// Bandwidth of the device memory in bytes per second.
  double memory_bandwidth = kNoNumber;
  double fp32_flops = kNoNumber;
  double tf32_flops = kNoNumber;
  double fp16_flops = kNoNumber;
  double bf16_flops = kNoNumber;
  double fp8_flops = kNoNumber;
  /// Capacity of the last-level cache in bytes.
  double cache_bytes = kNoNumber;
  /// Streaming multiprocessors, compute units or cores.
  int64_t cores = kNoCount;
  /// Boost clock in hertz.
  double clock_hz = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("name", self.name...);
    visit("vendor", self.vendor...);
    visit("memory_bytes", self.memory_bytes...);
    visit("memory_bandwidth", self.memory_bandwidth...);
    visit("fp32_flops", self.fp32_flops...);
    visit("tf32_flops", self.tf32_flops...);
    visit("fp16_flops", self.fp16_flops...);
    visit("bf16_flops", self.bf16_flops...);
    visit("fp8_flops", self.fp8_flops...);
    visit("cache_bytes", self.cache_bytes...);
    visit("cores", self.cores...);
    visit("clock_hz", self.clock_hz...);
  }

  friend bool operator==(const Accelerator& a, const Accelerator& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const Accelerator& a, const Accelerator& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const Accelerator& accelerator) {
    return HashFields(std::move(state), accelerator);
  }
};

/// Peak of the matrix engine for a precision in operations per second; missing
/// if the platform does not state it. All 8-bit formats share one peak; a 4-bit
/// peak is not kept; mixed precision (`kAmp`) has the peak that both 16-bit
/// formats share, or none.
double PeakFlops(const Accelerator& accelerator, Precision precision);

/// One level of the network, from the inside out: a node of devices, then a
/// rail or pod of nodes, and so on.
struct NetworkLevel {
  /// "node", "pod", "cluster"…
  std::string name;
  /// Members of the next inner level (devices, for the innermost) that one
  /// group of this level joins; -1: all there are.
  int64_t size = kNoCount;
  /// What the links are, in the source's words.
  std::string link;
  /// Bandwidth of one device at this level, one direction, in bytes per second.
  double bandwidth = kNoNumber;
  /// Latency of one message in seconds.
  double latency_s = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("name", self.name...);
    visit("size", self.size...);
    visit("link", self.link...);
    visit("bandwidth", self.bandwidth...);
    visit("latency_s", self.latency_s...);
  }

  friend bool operator==(const NetworkLevel& a, const NetworkLevel& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const NetworkLevel& a, const NetworkLevel& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const NetworkLevel& level) {
    return HashFields(std::move(state), level);
  }
};

/// Accelerators and how they are joined. A *platform* is a named system of the
/// measurement bundle, whose number of devices is not stated.
struct System {
  std::string name;
  Accelerator accelerator;
  /// Devices in use; -1: not stated.
  int64_t devices = kNoCount;
  /// Levels of the network from the inside out; the first is the node.
  std::vector<NetworkLevel> network;
  /// The software that trains on it, in the words of who says it ("NeMo
  /// 24.07"); empty: not stated.
  std::string framework;
  /// Bandwidth of the link between a device and its host, one direction, and
  /// a device's share of the bandwidth of its host's memory, in bytes per
  /// second.
  double host_link_bandwidth = kNoNumber;
  double host_memory_bandwidth = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("name", self.name...);
    visit("accelerator", self.accelerator...);
    visit("devices", self.devices...);
    visit("network", self.network...);
    visit("framework", self.framework...);
    visit("host_link_bandwidth", self.host_link_bandwidth...);
    visit("host_memory_bandwidth", self.host_memory_bandwidth...);
  }

  friend bool operator==(const System& a, const System& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const System& a, const System& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const System& system) {
    return HashFields(std::move(state), system);
  }
};

/// Devices of one node; -1 if the system does not say.
inline int64_t DevicesPerNode(const System& system) {
  return system.network.empty() ? kNoCount : system.network.front().size;
}

}  // namespace lmsimbench
