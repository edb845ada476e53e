#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/simulators/vtrain/error.h"
#include "lmsimbench/vtrain.h"

namespace lmsimbench::vtrain {

/// A configuration of vTrain with its defaults. Fields without a default are
/// empty where the file does not state them.
struct Config {
  std::optional<int64_t> num_gpus;
  std::optional<int64_t> tensor_parallel;
  std::optional<int64_t> data_parallel;
  std::optional<int64_t> pipeline_parallel;
  /// Folder with the all-reduce tables, in lower case.
  std::string gpu_name = "A100";
  int64_t global_batch = 1920;
  std::optional<int64_t> micro_batch;
  /// Has no effect.
  std::string model_arch = "ShardedGptModel";
  int64_t num_layers = 105;
  int64_t hidden = 20480;
  /// Has to be divided; has no effect otherwise.
  int64_t num_heads = 128;
  int64_t max_length = 2048;
  int64_t vocab = 50257;
  /// Has no effect.
  bool use_gradient_bucket = false;
  /// MiB; of use to `VtrainRepairs::overlap_gradients` only.
  std::optional<int64_t> ddp_bucket_size;
  bool use_checkpoint = true;
  /// Of a node, in Gbit/s of 2^30 bits.
  double inter_node_bandwidth = 800;
  /// Of a device, in GB/s of 2^30 bytes.
  double intra_node_bandwidth = 150;
  /// Has no effect: the schedule is 1F1B.
  std::string pipeline_scheduling = "1f1b";
  int64_t node_size = 8;
};

/// Completes and checks a configuration, in the order of the original: the
/// first rule that is broken is named. Afterwards devices, parallelism and
/// micro-batch are there. With one pipeline stage the micro-batch becomes the
/// whole batch of a replica, unless `keep_micro_batches` keeps what is stated.
Error Resolve(const VtrainRepairs& repairs, Config& config);

/// \{ Of a resolved configuration.
/// Micro-batches of an iteration; a remainder is lost. 0 is possible.
int64_t MicroBatches(const Config& config);
/// Bytes of the activation that a layer hands on.
int64_t ActivationBytes(const Config& config);
/// Bytes of the gradients of one transformer layer, of the embeddings and of
/// the output layer, on one tensor-parallel rank.
int64_t TransformerGradientBytes(const Config& config);
int64_t EmbeddingGradientBytes(const Config& config);
int64_t OutputGradientBytes(const Config& config);
/// \}

/// a // b and a mod b, rounded towards minus infinity; b is not 0.
int64_t FloorDivide(int64_t a, int64_t b);
int64_t FloorModulo(int64_t a, int64_t b);

}  // namespace lmsimbench::vtrain
