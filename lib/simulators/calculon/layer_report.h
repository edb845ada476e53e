#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "lib/simulators/calculon/evaluate.h"

namespace lmsimbench::calculon {

/// What one stage of a layer does, with its tensor-parallel communication by
/// kind of block. Of the weight gradients, the communication is the one that is
/// redone; the optimizer has none.
struct StageReport {
  double flops = 0;
  double mem_accessed = 0;  ///< bytes
  double arithmetic_intensity =
      0;  ///< flops/byte; 0 without flops, infinite without bytes
  double processing_time = 0;
  std::array<double, kBlockKindCount> comm_tile =
      {};  ///< bytes of one of the tiles
  std::array<double, kBlockKindCount> comm_size = {};  ///< bytes
  std::array<double, kBlockKindCount> comm_time = {};
  std::array<double, kBlockKindCount> comm_time_exposed = {};
};

/// One layer of the block; sizes in bytes but for the two in elements.
struct LayerReport {
  std::string_view name;
  double inputs_size = 0;   ///< elements
  double outputs_size = 0;  ///< elements
  std::array<StageReport, kStageCount> stages;
  double weight = 0;
  double activation = 0;
  double weight_grad = 0;
  double activation_grad = 0;
  double optimizer = 0;
};

/// The layers of the block that the last successful Evaluate left in
/// `workspace`, in order; all stages, also in inference.
void ReportLayers(const Workspace& workspace, std::vector<LayerReport>& layers);

}  // namespace lmsimbench::calculon
