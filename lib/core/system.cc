#include "lmsimbench/system.h"

namespace lmsimbench {

double PeakFlops(const Accelerator& accelerator, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return accelerator.fp32_flops;
    case Precision::kTf32:
      return accelerator.tf32_flops;
    case Precision::kFp16:
      return accelerator.fp16_flops;
    case Precision::kBf16:
      return accelerator.bf16_flops;
    case Precision::kAmp:
      return accelerator.fp16_flops == accelerator.bf16_flops
                 ? accelerator.bf16_flops
                 : kNoNumber;
    case Precision::kFp8:
    case Precision::kFp8CurrentScaling:
    case Precision::kFp8Rowwise:
    case Precision::kFp8Tensorwise:
    case Precision::kMxFp8:
    case Precision::kFp8Mx:
      return accelerator.fp8_flops;
    case Precision::kNvFp4:
    case Precision::kNotStated:
      return kNoNumber;
  }
  return kNoNumber;
}

}  // namespace lmsimbench
