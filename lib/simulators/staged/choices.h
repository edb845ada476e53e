#pragma once

#include <string>
#include <vector>

#include "lib/simulators/staged/framework_defaults.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/workload.h"

/// \file
/// Choices that a question leaves open and the stages do not make.

namespace lmsimbench::staged {

/// Which choices a question needs.
struct Choices {
  /// Null: of the framework nothing is known, or nothing is left open.
  const FrameworkDefaults* defaults = nullptr;
  /// Layers that do not divide by the stages, and nothing says who takes more.
  bool balanced = false;
  /// 16 bits, of which the device has one format only.
  bool fp16 = false;
  /// Fused attention on devices with eight-bit formats.
  bool flash = false;
  /// 4-bit formats, whose peak no system states. Nothing is changed: the cost
  /// model takes that of 8-bit ones.
  bool four_bits = false;

  bool any() const {
    return defaults != nullptr || balanced || fp16 || flash || four_bits;
  }
};

Choices ChoicesOf(const System& system, const Workload& workload,
                  const ParallelConfig& config);

/// Makes them.
void Apply(const Choices& choices, const System& system, Workload& workload,
           ParallelConfig& config);

/// Says them, one sentence each.
void AddWords(const Choices& choices, std::vector<std::string>& words);

/// What is taken for bandwidths that the system does not state, in words.
void AddBandwidths(const System& system, std::vector<std::string>& words);

/// What is taken of the host that the system does not state, where the
/// configuration needs it.
void AddHost(const System& system, const ParallelConfig& config,
             std::vector<std::string>& words);

// One 200 Gb/s port a device: what most platforms that state theirs have.
inline constexpr double kUnstatedBandwidth = 25e9;
// The median of the 30 platforms of the bundle that state both, PCIe apart, is
// 0.12.
inline constexpr double kUnstatedNodeShare = 1.0 / 8;

}  // namespace lmsimbench::staged
