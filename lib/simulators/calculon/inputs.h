#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/simulators/calculon/rate_table.h"

namespace lmsimbench::calculon {

/// The network: what is trained or asked. No vocabulary: embedding, head and
/// loss are not modelled.
struct Application {
  int64_t hidden = 0;
  int64_t feedforward = 0;
  int64_t seq_size = 0;    ///< tokens of a sequence
  int64_t attn_heads = 0;  ///< attn_heads x attn_size need not equal hidden
  int64_t attn_size = 0;   ///< elements of a head
  int64_t num_blocks = 0;
};

/// The parameters of an application with a vocabulary of 51,200 and learned
/// positions. Printed, used nowhere. Exact below 2^53.
double ParameterCount(const Application& application);

enum class Datatype : uint8_t {
  kFloat8,
  kFloat16,
  kBfloat16,
  kFloat32,
  kOther
};
enum class AttentionType : uint8_t { kMultihead, kMultiquery, kOther };
enum class Recompute : uint8_t { kNone, kAttentionOnly, kFull, kOther };
enum class TensorComm : uint8_t { kAllReduce, kP2pRsAg, kRsAg, kOther };
enum class TensorOverlap : uint8_t { kNone, kRing, kPipe, kOther };

/// The datatypes that an engine can have a table for.
inline constexpr int kDatatypeCount = 4;

/// Bytes of an element: 1, 2, 2, 4; 0 for kOther.
double BytesPerElement(Datatype datatype);

/// One computing engine (matrix or vector): a table of operations per second
/// for each datatype known.
struct Engine {
  std::array<std::optional<RateTable>, kDatatypeCount> tables;
};

/// One tier of memory.
struct Memory {
  double capacity_bytes = 0;
  RateTable rate;  ///< bytes/s by bytes
};

/// What a network carries.
enum class NetworkOp : uint8_t { kP2p, kReduceScatter, kAllGather, kAllReduce };
inline constexpr int kNetworkOpCount = 4;

/// One tier of the interconnect; a parallelism is mapped to exactly one.
struct Network {
  /// A message of x bytes among n counts as y = x scalar, y += y/n offset. p2p
  /// has offset 0.
  struct Op {
    double scalar = 1;
    double offset = 0;
  };

  double bandwidth_bytes_per_s = 0;
  double efficiency = 1;
  double size = 0;  ///< most participants
  double latency_s = 0;
  std::array<Op, kNetworkOpCount> ops;
  bool must_be_filled = false;
  double processor_usage =
      0;  ///< share of the processor that communication takes, [0, 1)
};

/// The hardware.
struct System {
  Engine matrix;
  Engine vector;
  Memory mem1;            ///< fast tier
  Memory mem2;            ///< offload tier
  bool roofline = false;  ///< true: computing hides memory accesses; false
                          ///< ("no_overlap"): they add
  std::vector<Network> networks;
};

/// How the work is divided and run.
struct Execution {
  int64_t num_procs = 1;
  int64_t tensor_par = 1;
  int64_t pipeline_par = 1;
  int64_t data_par = 1;
  int64_t tensor_par_net =
      0;  ///< index into System::networks; negative counts from the end
  int64_t pipeline_par_net = 0;
  int64_t data_par_net = 0;
  int64_t batch_size = 1;       ///< sequences of the global batch
  int64_t microbatch_size = 1;  ///< sequences
  int64_t pipeline_interleaving = 1;
  Datatype datatype = Datatype::kFloat16;
  AttentionType attention_type = AttentionType::kMultihead;
  Recompute activation_recompute = Recompute::kNone;
  TensorComm tensor_par_comm_type = TensorComm::kAllReduce;
  TensorOverlap tensor_par_overlap = TensorOverlap::kNone;
  bool fused_activation = false;
  bool optimizer_sharding = false;
  bool seq_par_ag_redo = false;
  bool data_par_overlap = false;
  bool weight_offload = false;
  bool activations_offload = false;
  bool optimizer_offload = false;
  bool training = true;  ///< false: one forward pass
};

}  // namespace lmsimbench::calculon
