#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.h"
#include "lmsimbench/c.h"

namespace embed {

/// A collective as the interface asks about it, one row of a batch.
struct Asked {
  uint8_t kind = LMSB_COLLECTIVE_NOT_STATED;
  uint8_t group = LMSB_GROUP_NOT_STATED;
  int32_t level = 0;
  int64_t bytes = -1;
  int64_t members = -1;
  int64_t nodes = -1;
  int64_t members_per_node = -1;
};

/// A measured latency of the bundle's collectives view.
struct MeasuredCollective {
  std::string platform;
  std::string link;
  std::string kind;
  Asked asked;
  double seconds = 0;
};

/// Rows of split "test" that NCCL ran in a group of a stated shape, without
/// those that are flagged as doubtful and those that went through the host's
/// TCP, of which a platform's figures say nothing.
std::vector<MeasuredCollective> ReadMeasured(const Bundle& bundle);

/// Seconds that a model says, NaN where it does not answer.
std::vector<double> Ask(const CostModel& model, const System& system,
                        const std::vector<Asked>& asked);

}  // namespace embed
