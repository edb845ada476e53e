#pragma once

#include <cstdint>
#include <utility>

#include "lmsimbench/model_spec.h"
#include "lmsimbench/values.h"

namespace lmsimbench {

/// Number format of the matrix multiplications, or of a tensor.
enum class Precision : uint8_t {
  kNotStated,
  kFp32,
  kTf32,
  kFp16,
  kBf16,
  kAmp,  ///< automatic mixed precision, the format not stated
  kFp8,  ///< scaling not stated, or delayed
  kFp8CurrentScaling,
  kFp8Rowwise,
  kFp8Tensorwise,
  kMxFp8,  ///< 8 bits with a scale for each block of 32
  kFp8Mx,  ///< as `kMxFp8`, as another source names it
  kNvFp4,  ///< 4 bits with a scale for each block of 16
};
template <>
struct EnumNames<Precision> {
  static constexpr const char* kNames[] = {
      "not stated", "fp32",   "tf32",   "fp16",        "bf16",
      "amp",        "fp8",    "fp8-cs", "fp8-rowwise", "fp8-tensorwise",
      "mxfp8",      "fp8-mx", "nvfp4"};
};

/// True for every 8-bit format, whatever its scaling.
inline bool IsFp8(Precision precision) {
  return precision >= Precision::kFp8 && precision <= Precision::kFp8Mx;
}

/// Optimizer, as far as it decides state and work per parameter.
enum class Optimizer : uint8_t {
  kNotStated,
  kAdam,  ///< two moments per parameter, with or without decoupled weight decay
  kSgd,
  kSgdMomentum,
  kAdafactor,
  kMuon,
};
template <>
struct EnumNames<Optimizer> {
  static constexpr const char* kNames[] = {"not stated",   "adam",      "sgd",
                                           "sgd-momentum", "adafactor", "muon"};
};

/// How the attention core is computed.
enum class AttentionImpl : uint8_t {
  kNotStated,
  kUnfused,  ///< scores, softmax and dropout are stored: memory grows with the
             ///< square of the sequence
  kFlash,    ///< fused; the quadratic tensors are never stored
};
template <>
struct EnumNames<AttentionImpl> {
  static constexpr const char* kNames[] = {"not stated", "unfused", "flash"};
};

/// How the cross entropy is computed.
enum class LossImpl : uint8_t {
  kNotStated,
  kPlain,    ///< logits stored in 32 bits
  kFused,    ///< logits kept in the training precision, 32-bit values only in
             ///< registers
  kChunked,  ///< output layer and loss in chunks of `loss_chunk` tokens
};
template <>
struct EnumNames<LossImpl> {
  static constexpr const char* kNames[] = {"not stated", "plain", "fused",
                                           "chunked"};
};

/// What is trained: a model, the shape and precision of one iteration, and the
/// implementations that decide what is computed and stored. A plain value,
/// independent of how the work is divided.
struct Workload {
  ModelSpec model;

  /// Tokens of one sequence.
  int64_t seq_len = kNoCount;
  /// Sequences of one iteration over all devices.
  int64_t global_batch = kNoCount;
  /// Format of the matrix multiplications.
  Precision precision = Precision::kNotStated;
  /// Format in which gradients are accumulated and reduced.
  Precision gradient_precision = Precision::kNotStated;
  Optimizer optimizer = Optimizer::kNotStated;
  AttentionImpl attention_impl = AttentionImpl::kNotStated;
  /// The framework's switch for flash attention, of a source that states the
  /// switch and not what ran (see `UsesFlashAttention`).
  YesNo flash_attention = YesNo::kNotStated;
  /// A token attends to those before it only; not stated: it does.
  YesNo causal = YesNo::kNotStated;
  LossImpl loss_impl = LossImpl::kNotStated;
  /// Tokens of one chunk of the chunked loss.
  int64_t loss_chunk = kNoCount;
  /// Normalisation in one fused kernel.
  YesNo fused_norm = YesNo::kNotStated;
  /// Experts of a device as one grouped matrix multiplication.
  YesNo grouped_gemm = YesNo::kNotStated;
  /// Several documents packed into one sequence, attention within each only.
  YesNo packed = YesNo::kNotStated;
  /// Deterministic kernels were asked for.
  YesNo deterministic = YesNo::kNotStated;
  /// Tokens that an expert has room for, as a multiple of those that it gets if
  /// all get as many: what is more is dropped, what is less padded. Missing: no
  /// token is dropped or added.
  double expert_capacity = kNoNumber;
  /// Tokens of the device whose experts get most, over the average; missing: 1.
  double expert_imbalance = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("model", self.model...);
    visit("seq_len", self.seq_len...);
    visit("global_batch", self.global_batch...);
    visit("precision", self.precision...);
    visit("gradient_precision", self.gradient_precision...);
    visit("optimizer", self.optimizer...);
    visit("attention_impl", self.attention_impl...);
    visit("flash_attention", self.flash_attention...);
    visit("causal", self.causal...);
    visit("loss_impl", self.loss_impl...);
    visit("loss_chunk", self.loss_chunk...);
    visit("fused_norm", self.fused_norm...);
    visit("grouped_gemm", self.grouped_gemm...);
    visit("packed", self.packed...);
    visit("deterministic", self.deterministic...);
    visit("expert_capacity", self.expert_capacity...);
    visit("expert_imbalance", self.expert_imbalance...);
  }

  friend bool operator==(const Workload& a, const Workload& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const Workload& a, const Workload& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const Workload& workload) {
    return HashFields(std::move(state), workload);
  }
};

/// True if the attention core is fused: as stated, else as the framework's
/// switch has it.
inline bool UsesFlashAttention(const Workload& workload) {
  return workload.attention_impl == AttentionImpl::kFlash ||
         (workload.attention_impl == AttentionImpl::kNotStated &&
          IsYes(workload.flash_attention));
}

}  // namespace lmsimbench
