#include "lmsimbench/system.h"

#include <catch2/catch.hpp>

namespace lmsimbench {
namespace {

TEST_CASE("every precision finds its own peak") {
  Accelerator accelerator;
  accelerator.fp32_flops = 1;
  accelerator.tf32_flops = 2;
  accelerator.fp16_flops = 3;
  accelerator.bf16_flops = 4;
  accelerator.fp8_flops = 5;
  CHECK(PeakFlops(accelerator, Precision::kFp32) == 1);
  CHECK(PeakFlops(accelerator, Precision::kTf32) == 2);
  CHECK(PeakFlops(accelerator, Precision::kFp16) == 3);
  CHECK(PeakFlops(accelerator, Precision::kBf16) == 4);
  for (Precision precision :
       {Precision::kFp8, Precision::kFp8CurrentScaling, Precision::kFp8Rowwise,
        Precision::kFp8Tensorwise, Precision::kMxFp8, Precision::kFp8Mx}) {
    CHECK(IsFp8(precision));
    CHECK(PeakFlops(accelerator, precision) == 5);
  }
}

TEST_CASE("a peak that is not stated stays missing") {
  Accelerator accelerator;
  accelerator.bf16_flops = 4;
  CHECK_FALSE(IsStated(PeakFlops(accelerator, Precision::kFp32)));
  CHECK_FALSE(IsStated(PeakFlops(accelerator, Precision::kNvFp4)));
  CHECK_FALSE(IsStated(PeakFlops(accelerator, Precision::kNotStated)));
}

TEST_CASE("mixed precision has a peak where both 16-bit formats share one") {
  Accelerator accelerator;
  accelerator.bf16_flops = 4;
  CHECK_FALSE(IsStated(PeakFlops(accelerator, Precision::kAmp)));
  accelerator.fp16_flops = 3;
  CHECK_FALSE(IsStated(PeakFlops(accelerator, Precision::kAmp)));
  accelerator.fp16_flops = 4;
  CHECK(PeakFlops(accelerator, Precision::kAmp) == 4);
}

TEST_CASE("the first level of the network is the node") {
  System system;
  CHECK(DevicesPerNode(system) == kNoCount);
  system.network.resize(2);
  system.network[0].size = 8;
  CHECK(DevicesPerNode(system) == 8);
}

}  // namespace
}  // namespace lmsimbench
