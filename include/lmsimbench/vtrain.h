#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/cost_model.h"
#include "lmsimbench/framework.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench {

/// Where vTrain is repaired. Each switch mends one thing that its released code
/// gets wrong; all off is the code as it stands. Reasons and formulas stand in
/// lib/simulators/README.md.
struct VtrainRepairs {
  /// One pipeline stage keeps its micro-batches; the original takes the whole
  /// batch of a replica as one.
  bool keep_micro_batches = false;
  /// Recomputation runs on the last stage too and repeats the all-reduces of
  /// the layers; the original leaves both out, and recomputes the embedding.
  bool recompute_everywhere = false;
  /// An all-reduce below 0.5 MiB takes its start-up time and one above 1 GiB
  /// goes on at the speed of 1 GiB; the original takes 0, and up to half.
  bool smooth_all_reduce = false;
  /// Data-parallel groups that leave the node go over the node's links, which
  /// they share; the original stays inside the node while tensor parallelism
  /// does.
  bool place_data_groups = false;
  /// Gradients are reduced in buckets, beside the last backward pass of their
  /// own stage; the original waits for the first stage and reduces all at once.
  bool overlap_gradients = false;
  /// The output layer is updated, and first and last stage add their gradients
  /// of the shared embedding; the original leaves both out.
  bool count_output_layer = false;
  /// A transfer between stages moves the activation once, over the link that
  /// joins them; the original doubles it and takes a quarter of the node's
  /// links, even inside a node.
  bool hop_by_link = false;
  /// An accelerator without all-reduce tables has its communication from the
  /// cost model; the original knows the A100 and the V100 alone.
  bool model_other_devices = false;

  static VtrainRepairs None() { return {}; }
  static VtrainRepairs All() {
    return {true, true, true, true, true, true, true, true};
  }
};

/// A profile of vTrain: the trace of one training step of one layer on one
/// device, and what was profiled (its file name says so: trace_{hidden}_
/// {tensor parallelism}_{micro-batch}).
struct VtrainTrace {
  /// In messages.
  std::string file;
  std::string text;
  int64_t hidden = 0;
  int64_t tp = 0;
  int64_t micro_batch = 0;
};

/// Reads a trace file. Width, tensor parallelism and micro-batch are taken from
/// its name. NOT_FOUND if it cannot be read, INVALID_ARGUMENT if its name does
/// not say what was profiled.
absl::StatusOr<VtrainTrace> ReadVtrainTrace(const std::string& file);

/// Where the kernels come from that vTrain would profile.
enum class VtrainKernels : uint8_t {
  /// Composed per layer of what a cost model says of its operators.
  kCostModel,
  /// The layer latencies that published runs of vTrain on an A100 give when
  /// they are solved for them: three passes of a layer, of embeddings and
  /// output layer sums only. Other widths, tensor parallelisms, lengths and
  /// micro-batches than theirs are refused.
  kPublishedLatencies,
  /// A trace; refuses what it was not made for.
  kTrace,
};

struct VtrainOptions {
  VtrainRepairs repairs;
  VtrainKernels kernels = VtrainKernels::kCostModel;
  /// For `kTrace`.
  VtrainTrace trace;
  /// For `kCostModel`: the host starts an operator every so often; a shorter
  /// one leaves a gap behind it.
  double dispatch_s = FrameworkParameters().operator_s;
};

/// vTrain (github.com/VIA-Research/vTrain, commit f8dda84), reproduced to the
/// last digit: a profile-driven simulator of GPT training under data, tensor
/// and pipeline parallelism. Answers the iteration time, its parts of the stage
/// that ends last, and pipeline ranks; no memory. Refuses by name what it
/// cannot express (experts, context parallelism, ZeRO, virtual stages, other
/// schedules, uneven stages) and devices without all-reduce tables (all but
/// A100 and V100, unless `model_other_devices`).
///
/// `model` gives kernels for `kCostModel`, else it may be null. Nothing is
/// simulated that vTrain leaves out: what it changes in a question stands among
/// the adaptations.
absl::StatusOr<std::unique_ptr<Simulator>> MakeVtrain(
    std::string name, std::shared_ptr<const CostModel> model,
    const VtrainOptions& options = {});

/// With the kernels of `MakeDefaultCostModel`, and a bandwidth for levels of the
/// network that state none: vTrain's own default.
absl::StatusOr<std::unique_ptr<Simulator>> MakeVtrain(
    std::string name, const Bundle& bundle, const VtrainRepairs& repairs);

}  // namespace lmsimbench
