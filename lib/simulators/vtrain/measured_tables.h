#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "lib/simulators/vtrain/all_reduce.h"

/// \file
/// The data files of this folder, compiled into the library.

namespace lmsimbench::vtrain {

struct NamedAllReduceTable {
  const char* name;
  const AllReduceTable* table;
};

/// nccl_allreduce.csv.
absl::Span<const NamedAllReduceTable> MeasuredAllReduceTables();

/// Latencies of one-layer models on an A100, of one micro-batch of one
/// sequence, in microseconds.
struct PublishedLatency {
  int64_t hidden;
  int64_t tp;
  double layer_forward;
  double layer_backward;
  double layer_update;
  /// Twice the forward and once the backward pass.
  double embeddings;
  double embeddings_update;
  /// Forward pass of output layer and loss, backward pass of the output layer.
  double output;
};

/// layer_latencies.csv.
absl::Span<const PublishedLatency> PublishedLatencies();

}  // namespace lmsimbench::vtrain
