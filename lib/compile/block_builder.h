#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
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
  /// The backward pass is split where the program says so.
  BlockBuilder(BlockKind kind, int32_t layers, Program& program);

  /// Steps appended from here on belong to the backward pass.
  void BeginBackward();
  /// Whether the gradients of weights have a pass of their own.
  bool splits_backward() const { return program_.splits_backward; }
  /// Runs `emit`, whose steps compute gradients of weights: they follow here,
  /// or belong to the weight pass, which has them in the order in which they
  /// are emitted.
  template <typename Emit>
  void Weight(Emit&& emit) {
    in_weight_pass_ = program_.splits_backward;
    emit();
    in_weight_pass_ = false;
  }
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
  // Steps of the weight pass are numbered from here until the number of all
  // others is known.
  static constexpr int32_t kFirstWeightStep = 1 << 30;

  int32_t NextStep() const {
    return in_weight_pass_
               ? kFirstWeightStep + static_cast<int32_t>(weight_steps_.size())
               : static_cast<int32_t>(program_.steps.size()) -
                     block_.begin_step;
  }
  void Add(const Step& step) {
    if (in_weight_pass_) {
      weight_steps_.push_back(step);
    } else {
      program_.steps.push_back(step);
    }
  }
  Step& LatestStep() {
    return in_weight_pass_ ? weight_steps_.back() : program_.steps.back();
  }
  TensorId AddTensor(const char* name, TensorKind kind, int64_t bytes,
                     int32_t step);

  Program& program_;
  Block block_;
  bool recomputed_ = false;
  bool in_weight_pass_ = false;
  absl::InlinedVector<Step, 16> weight_steps_;
};

}  // namespace lmsimbench::compile
