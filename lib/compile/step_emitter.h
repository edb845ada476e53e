#pragma once

#include <cstdint>

#include "lib/compile/block_builder.h"
#include "lib/compile/operators.h"
#include "lib/compile/sizes.h"

namespace lmsimbench::compile {

/// Emits what the parts of a layer have in common: norms, and linear layers
/// with the communication around tensor-parallel regions. Forward and backward
/// share the shapes and the collectives.
class StepEmitter {
 public:
  StepEmitter(const Sizes& sizes, BlockBuilder& builder)
      : s_(sizes), b_(builder) {}

  /// \{ Bytes of an activation of `width` channels, of the whole sequence and
  /// of what lies between tensor-parallel regions.
  int64_t FullBytes(int64_t width) const {
    return s_.tokens * width * s_.bytes;
  }
  int64_t StreamBytes(int64_t width) const {
    return s_.region_tokens * width * s_.bytes;
  }
  int64_t stream_bytes() const { return StreamBytes(s_.hidden); }
  /// \}

 protected:
  TensorId Norm(const Elementwise& norm, const char* name, TensorId input,
                int64_t width);
  /// `residual`: gradient of the stream that the result is added to.
  TensorId NormBackward(const Elementwise& norm, TensorId input,
                        TensorId gradient, TensorId residual, int64_t width);

  /// The whole sequence of an activation that is sharded along it.
  TensorId Gather(TensorId shard, int64_t width);
  /// The sum over tensor-parallel ranks, sharded where the sequence is.
  TensorId Reduce(TensorId partial, int64_t width, const char* name);

  /// A row-parallel linear layer and the reduction of what it computes.
  TensorId RowParallel(const Linear& linear, TensorId input, const char* name,
                       bool joins = true);
  TensorId RowParallelBackward(const Linear& linear, TensorId input,
                               TensorId gradient, int64_t input_bytes,
                               bool joins = true);
  /// Where collectives overlap, the input is gathered beside its gradient and
  /// the gradient is reduced beside that of the weights. The stream keeps its
  /// order, and the step behind the weight gradient joins both. A weight pass
  /// of its own gathers the input itself. The input has `width` channels.
  TensorId ColumnParallelBackward(const Linear& linear, TensorId input,
                                  TensorId gradient, int64_t width,
                                  bool joins = true);

  /// Runs `emit` as what runs for the second time.
  template <typename Emit>
  void Again(Emit&& emit) {
    b_.SetRecomputed(true);
    emit();
    b_.SetRecomputed(false);
  }

  const Sizes& s_;
  BlockBuilder& b_;
};

}  // namespace lmsimbench::compile
