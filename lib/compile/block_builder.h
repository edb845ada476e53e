#pragma once

#include <cstdint>

#include "lmsimbench/program.h"

namespace lmsimbench::compile {

/// A tensor of the block being built.
using TensorId = int32_t;
inline constexpr TensorId kNoTensor = -1;

/// Appends a block to a program, step by step. A tensor lives from the step
/// that makes it to the last that reads it, so what is kept for the backward
/// pass follows from what the backward pass reads.
class BlockBuilder {
 public:
  BlockBuilder(BlockKind kind, int32_t layers, Program& program);

  /// Steps appended from here on belong to the backward pass.
  void BeginBackward();
  /// Computations appended from here on run for the second time.
  void SetRecomputed(bool recomputed) { recomputed_ = recomputed; }

  /// A computation. Joins the collectives before it unless told not to.
  void Compute(int32_t op, bool joins = true);
  /// A collective; the next computation may run beside it only if it does not
  /// join. Nothing to do for 0 bytes.
  void Communicate(const Collective& collective);
  /// \{ What the latest step does beside: parameters of the block whose
  /// gradients it completes, tensors that it makes and reads.
  void Completes(int64_t parameters, int64_t replicated);
  void CompletesExperts(int64_t parameters);
  TensorId Make(const char* name, TensorKind kind, int64_t bytes);
  void Read(TensorId tensor);
  /// \}
  /// A tensor that is there when the next step begins.
  TensorId Arrives(const char* name, TensorKind kind, int64_t bytes);

  /// Completes the block and returns its index.
  int32_t Finish();

 private:
  int32_t NextStep() const {
    return static_cast<int32_t>(program_.steps.size()) - block_.begin_step;
  }
  TensorId AddTensor(const char* name, TensorKind kind, int64_t bytes,
                     int32_t step);

  Program& program_;
  Block block_;
  bool recomputed_ = false;
};

}  // namespace lmsimbench::compile
